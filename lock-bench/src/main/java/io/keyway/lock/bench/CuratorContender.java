// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's {@code InterProcessMutex}, {@code InterProcessReadWriteLock} and {@code InterProcessSemaphoreV2}. */
final class CuratorContender implements Contender {
    /** Keyway's default, in the place of Curator's, which is a minute. */
    static final Duration LEASE = Duration.ofSeconds(10);

    private static final Duration CONNECT = Duration.ofSeconds(5);

    private final CuratorFramework client;

    CuratorContender(String servers) {
        this(CuratorFrameworkFactory.newClient(servers, new ExponentialBackoffRetry(100, 3)));
    }

    /**
     * @param session how long a client keeps its locks that the servers do not hear of
     */
    CuratorContender(String servers, Duration session) {
        this(CuratorFrameworkFactory.newClient(
                servers, (int) session.toMillis(), (int) CONNECT.toMillis(), new ExponentialBackoffRetry(100, 3)));
    }

    private CuratorContender(CuratorFramework client) {
        this.client = client;
        client.start();
    }

    @Override
    public String name() {
        return "curator";
    }

    @Override
    public Set<Use> offers() {
        return EnumSet.allOf(Use.class);
    }

    @Override
    public Hold take(String lock) throws Exception {
        return held(new InterProcessMutex(client, "/curator/" + lock));
    }

    @Override
    public Hold take(String lock, Use use) throws Exception {
        String path = "/curator/" + lock;
        return switch (use) {
            case LOCK -> take(lock);
            case WRITE -> held(new InterProcessReadWriteLock(client, path).writeLock());
            case READ -> held(new InterProcessReadWriteLock(client, path).readLock());
            case PERMIT -> {
                Lease lease = new InterProcessSemaphoreV2(client, path, Use.PERMITS).acquire();
                yield lease::close;
            }
            case TRANSACTION -> throw new UnsupportedOperationException(name() + " has no " + use);
        };
    }

    @Override
    public boolean isTaken(String lock) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, "/curator/" + lock);
        if (!mutex.acquire(0, TimeUnit.SECONDS)) {
            return true;
        }
        mutex.release();
        return false;
    }

    private static Hold held(InterProcessMutex mutex) throws Exception {
        mutex.acquire();
        return mutex::release;
    }

    @Override
    public void close() {
        client.close();
    }
}
