// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Locks, leases and semaphores in Redis. */
@SuppressWarnings("requires-transitive-automatic") // RedisFence takes the driver, whose name its manifest says
module io.keyway.lock.redis {
    requires transitive io.keyway.lock;
    requires static org.jspecify;
    requires jdk.net;
    requires org.slf4j;
    requires transitive redis.clients.jedis;

    exports io.keyway.lock.redis;

    provides io.keyway.lock.spi.LockProvider with
            io.keyway.lock.redis.RedisProvider;
}
