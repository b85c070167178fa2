// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/**
 * Locks, leases and semaphores in Redis. Begin with {@link io.keyway.lock.redis.RedisBackend}, one script for each
 * verb, and the head of {@code common.lua}, which says what is kept in which key; then
 * {@link io.keyway.lock.redis.RedisLink} and {@link io.keyway.lock.redis.RedisNode}, the way to the server, and
 * {@link io.keyway.lock.redis.Notifications}, by which waiters are told.
 */
@NullMarked
package io.keyway.lock.redis;

import org.jspecify.annotations.NullMarked;
