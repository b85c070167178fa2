// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * The native peer-to-peer provider. Begin with {@code queue.LockManager} and {@code client.LockClientHelper}, the two
 * ends of the lease service; below them are {@code session}, {@code kernel} and {@code wire}, around them
 * {@code engine}, {@code cluster}, {@code local}, {@code memory} and {@code member}.
 * {@link io.keyway.lock.peer.NativeLockProvider} is the door.
 */
@NullMarked
package io.keyway.lock.peer;

import org.jspecify.annotations.NullMarked;
