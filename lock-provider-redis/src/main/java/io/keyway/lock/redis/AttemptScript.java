// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.Request;

/** Which script carries out an attempt. */
final class AttemptScript {
    private static final RedisScript PLAIN = RedisScript.of("token", "attempt-free", "common", "asked", "attempt");

    /** For a request that asks for more than its capacity: what nobody holds is not free for it. */
    private static final RedisScript BEYOND = RedisScript.of("token", "common", "asked", "attempt");

    private static final RedisScript DRAIN = RedisScript.of("token", "common", "asked", "drain");

    private AttemptScript() {}

    static RedisScript of(Request request) {
        if (request.policy().isSoft()) {
            return DRAIN;
        }
        return request.permits() <= request.capacity() ? PLAIN : BEYOND;
    }
}
