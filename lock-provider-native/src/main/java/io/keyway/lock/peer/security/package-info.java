/**
 * Who may speak to whom: shared secrets, certificates, and what may be done without either. Begin with
 * {@link io.keyway.lock.peer.security.Security}.
 */
@NullMarked
package io.keyway.lock.peer.security;

import org.jspecify.annotations.NullMarked;
