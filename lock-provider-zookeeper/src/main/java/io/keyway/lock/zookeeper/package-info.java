// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Locks, leases and semaphores in ZooKeeper. */
@NullMarked
package io.keyway.lock.zookeeper;

import org.jspecify.annotations.NullMarked;
