// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks with their watchdog, as {@code lock()} has it, and its semaphore whose permits expire. */
final class RedissonContender implements Contender {
    /** As long as what Keyway grants lasts. */
    private static final long PERMIT_SECONDS = 30;

    private final String name;
    private final RedissonClient client;
    private final BiFunction<RedissonClient, String, RLock> locks;
    private final Map<String, RPermitExpirableSemaphore> semaphores = new ConcurrentHashMap<>();

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
    public Set<Use> offers() {
        return EnumSet.allOf(Use.class);
    }

    @Override
    public Hold take(String lock) {
        return held(locks.apply(client, lock));
    }

    @Override
    public Hold take(String lock, Use use) throws InterruptedException {
        return switch (use) {
            case LOCK -> take(lock);
            case WRITE -> held(client.getReadWriteLock(lock).writeLock());
            case READ -> held(client.getReadWriteLock(lock).readLock());
            case PERMIT -> permit(semaphores.computeIfAbsent(lock, this::semaphore));
            case TRANSACTION -> throw new UnsupportedOperationException(name() + " has no " + use);
        };
    }

    private static Hold held(RLock lock) {
        lock.lock();
        return lock::unlock;
    }

    private RPermitExpirableSemaphore semaphore(String semaphore) {
        RPermitExpirableSemaphore made = client.getPermitExpirableSemaphore(semaphore);
        made.trySetPermits(Use.PERMITS);
        return made;
    }

    private static Hold permit(RPermitExpirableSemaphore semaphore) throws InterruptedException {
        String permit = semaphore.acquire(PERMIT_SECONDS, TimeUnit.SECONDS);
        return () -> semaphore.release(permit);
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
