// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * A member's side of a lock service: for each name a manager that knows who holds it, who waits in which order, and the
 * next token; and the directory of all names that are not at rest. Begin with
 * {@link io.keyway.lock.peer.queue.LockManager}.
 */
@NullMarked
package io.keyway.lock.peer.queue;

import org.jspecify.annotations.NullMarked;
