// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

/** The scripts that carry out the verbs. */
final class RedisScripts {
    static final RedisScript ATTEMPT = RedisScript.of("token", "attempt-free", "common", "asked", "attempt");

    /** Of a request that asks for more than its capacity: what nobody holds is not free for it. */
    static final RedisScript ATTEMPT_BEYOND = RedisScript.of("token", "common", "asked", "attempt");

    /** The attempt of a soft writer. */
    static final RedisScript DRAIN = RedisScript.of("token", "common", "asked", "drain");

    static final RedisScript CONVERT = RedisScript.of("token", "common", "convert");
    static final RedisScript RENEW = RedisScript.of("renew").asUrgent();
    static final RedisScript RELEASE =
            RedisScript.of("release-plain", "token", "common", "release").asUrgent();
    static final RedisScript KEEP = RedisScript.of("token", "common", "keep").asUrgent();
    static final RedisScript WITHDRAW =
            RedisScript.of("token", "common", "withdraw").asUrgent();
    static final RedisScript TOMBSTONE = RedisScript.of("tombstone").asUrgent();
    static final RedisScript BREAK = RedisScript.of("token", "common", "break");
    static final RedisScript AVAILABLE = RedisScript.of("token", "common", "available");

    private RedisScripts() {}
}
