// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.Lease;
import io.keyway.lock.LockMode;
import java.util.List;
import java.util.Objects;
import redis.clients.jedis.UnifiedJedis;

/**
 * Stands before values in Redis as {@link io.keyway.lock.FenceGuard} before a resource in memory: a value is stored
 * only if the lease's token is not lower than the highest that was seen for its key, both in one script. So a holder
 * that was paused beyond its lease cannot overwrite what the next one stored.
 *
 * <pre>{@code
 * RedisFence fence = new RedisFence(locks.unwrap(UnifiedJedis.class));
 * try (Lease lease = locks.lock("report").acquire()) {
 *     if (!fence.set(lease, "report:latest", text)) {
 *         // Another has held the lock since; its value stays.
 *     }
 * }
 * }</pre>
 *
 * <p>The token is kept beside the value, under a key of its own without an end: it has to outlast the value. The store
 * of the locks may be another one, of any provider with FENCING. Rule LK-605.
 */
public final class RedisFence {

    private static final RedisScript SET = RedisScript.of("fence");

    private final UnifiedJedis redis;

    /** Makes the fence of the values in that Redis; it is not closed by this. */
    public RedisFence(UnifiedJedis redis) {
        this.redis = Objects.requireNonNull(redis, "redis");
    }

    /**
     * Stores a value, unless a higher token was seen for its key.
     *
     * @return whether it was stored
     * @throws IllegalArgumentException if the lease is not EXCLUSIVE
     * @throws redis.clients.jedis.exceptions.JedisException if Redis cannot be asked, or refuses; it may have stored it
     */
    public boolean set(Lease lease, String key, String value) {
        if (lease.mode() != LockMode.EXCLUSIVE) {
            throw new IllegalArgumentException(
                    "A fence orders EXCLUSIVE leases; that of " + lease.name() + " is " + lease.mode() + ".");
        }
        Object stored = redis.eval(
                SET.text(),
                List.of(ScriptCodec.bytes(key), ScriptCodec.bytes(fenceKey(key))),
                List.of(ScriptCodec.bytes(Long.toString(lease.token())), ScriptCodec.bytes(value)));
        return ScriptCodec.number(stored) == 1;
    }

    /** Returns the key under which the highest token for that key is kept; in a cluster both are in one slot. */
    public static String fenceKey(String key) {
        int open = key.indexOf('{');
        boolean tagged = open >= 0 && key.indexOf('}', open) > open + 1;
        return tagged ? key + ":fence" : "{" + key + "}:fence";
    }
}
