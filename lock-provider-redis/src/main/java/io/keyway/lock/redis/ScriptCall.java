// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

/**
 * One run of a script.
 *
 * @param script which
 * @param keys all that it touches, of one hash tag
 * @param arguments the rest
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ScriptCall(RedisScript script, byte[][] keys, byte[][] arguments) {}
