// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * The contract of every state machine of the native provider. No thread, clock, randomness, socket, logging or
 * iteration in hash order here: the same class files run in the socket runtime, in the simulator and in the explorer.
 * Begin with {@link io.keyway.lock.peer.kernel.Machine} and {@link io.keyway.lock.peer.kernel.Turn}, then
 * {@link io.keyway.lock.peer.kernel.Cell}, which runs them.
 */
@NullMarked
package io.keyway.lock.peer.kernel;

import org.jspecify.annotations.NullMarked;
