// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Locks, leases and semaphores in ZooKeeper. Begin with {@link io.keyway.lock.zookeeper.RequestNode}, the life of one
 * request, which {@link io.keyway.lock.zookeeper.ZooKeeperBackend} finds; then
 * {@link io.keyway.lock.zookeeper.RequestQueue}, who holds and who waits, and {@link io.keyway.lock.zookeeper.Session}
 * with {@link io.keyway.lock.zookeeper.EnsembleCalls}, the calls.
 */
@NullMarked
package io.keyway.lock.zookeeper;

import org.jspecify.annotations.NullMarked;
