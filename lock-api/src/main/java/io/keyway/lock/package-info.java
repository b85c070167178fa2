// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * What applications see: locks, leases and semaphores of any provider, chosen by URL.
 *
 * <p>{@link io.keyway.lock.Locks} opens a {@link io.keyway.lock.LockClient}; that gives a
 * {@link io.keyway.lock.DistributedLock}, a {@link io.keyway.lock.DistributedReadWriteLock} or a
 * {@link io.keyway.lock.DistributedSemaphore} for a name; an acquire gives a {@link io.keyway.lock.Lease}. What a store
 * promises is data ({@link io.keyway.lock.Guarantees}, {@link io.keyway.lock.Feature}), and what may go wrong is one
 * family ({@link io.keyway.lock.LockException}). {@link io.keyway.lock.FenceGuard} shows what a resource does with a
 * fencing token, {@link io.keyway.lock.JavaLocks} adapts to {@code java.util.concurrent.locks}.
 *
 * <p>No argument and no result is null unless it says so. Types are thread-safe or immutable unless they say otherwise.
 */
@NullMarked
package io.keyway.lock;

import org.jspecify.annotations.NullMarked;
