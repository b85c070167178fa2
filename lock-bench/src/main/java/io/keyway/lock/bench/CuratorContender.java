// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.util.EnumSet;
import java.util.Set;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's {@code InterProcessMutex}, {@code InterProcessReadWriteLock} and {@code InterProcessSemaphoreV2}. */
final class CuratorContender implements Contender {
    private final CuratorFramework client;

    CuratorContender(String servers) {
        client = CuratorFrameworkFactory.newClient(servers, new ExponentialBackoffRetry(100, 3));
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

    private static Hold held(InterProcessMutex mutex) throws Exception {
        mutex.acquire();
        return mutex::release;
    }

    @Override
    public void close() {
        client.close();
    }
}
