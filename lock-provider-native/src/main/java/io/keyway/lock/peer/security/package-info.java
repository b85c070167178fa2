/** Who may speak to whom: shared secrets, certificates, and what may be done without either. */
@NullMarked
package io.keyway.lock.peer.security;

import org.jspecify.annotations.NullMarked;
