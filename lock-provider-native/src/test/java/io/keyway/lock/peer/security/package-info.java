@NullMarked
package io.keyway.lock.peer.security;

import org.jspecify.annotations.NullMarked;
