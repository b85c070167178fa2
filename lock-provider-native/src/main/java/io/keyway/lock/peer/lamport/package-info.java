// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Lamport's queue: every member keeps the queue of every lock, in the order of a logical clock, and a request is
 * granted when all have seen it and it is the first. Begin with {@link io.keyway.lock.peer.lamport.LamportProcess}.
 */
@NullMarked
package io.keyway.lock.peer.lamport;

import org.jspecify.annotations.NullMarked;
