// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.util.function.BiFunction;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks with their watchdog, as {@code lock()} has it. */
final class RedissonContender implements Contender {
    private final String name;
    private final RedissonClient client;
    private final BiFunction<RedissonClient, String, RLock> locks;

    private RedissonContender(String name, String address, BiFunction<RedissonClient, String, RLock> locks) {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://" + address);
        this.name = name;
        this.client = Redisson.create(config);
        this.locks = locks;
    }

    /** Its usual lock, which whoever comes first after a release gets. */
    static Contender usual(String address) {
        return new RedissonContender("redisson", address, RedissonClient::getLock);
    }

    /** Its fair lock, which keeps a queue at the server as Keyway does. */
    static Contender fair(String address) {
        return new RedissonContender("redisson fair", address, RedissonClient::getFairLock);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Hold take(String lock) {
        RLock held = locks.apply(client, lock);
        held.lock();
        return held::unlock;
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
