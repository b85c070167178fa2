// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Locks, leases and semaphores in Redis. */
@NullMarked
package io.keyway.lock.redis;

import org.jspecify.annotations.NullMarked;
