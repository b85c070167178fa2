// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's {@code InterProcessMutex}. */
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
    public Hold take(String lock) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, "/curator/" + lock);
        mutex.acquire();
        return mutex::release;
    }

    @Override
    public void close() {
        client.close();
    }
}
