// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/**
 * The limit: an ephemeral sequential node is created and deleted, each with an answer, on ZooKeeper's own client. Whether it
 * is the first is not asked, so that nothing is locked: what no lock on ephemeral sequential nodes can do without.
 */
final class BareZooKeeperContender implements Contender {
    // ZooKeeper looks for a null in it, which a List.of does not allow.
    private static final List<ACL> ANYONE =
            Collections.singletonList(new ACL(ZooDefs.Perms.ALL, new Id("world", "anyone")));

    private final ZooKeeper client;
    private final Set<String> parents = ConcurrentHashMap.newKeySet();

    BareZooKeeperContender(String servers) throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        client = new ZooKeeper(servers, 40_000, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        connected.await();
    }

    @Override
    public String name() {
        return "bare nodes";
    }

    @Override
    public Hold take(String lock) throws Exception {
        String parent = "/bare-" + lock.replace('/', '-');
        if (parents.add(parent)) {
            make(parent);
        }
        String path = client.create(parent + "/x-", new byte[0], ANYONE, CreateMode.EPHEMERAL_SEQUENTIAL);
        return () -> client.delete(path, -1);
    }

    private void make(String parent) throws Exception {
        try {
            client.create(parent, new byte[0], ANYONE, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException e) {
            // Of an earlier run.
        }
    }

    @Override
    public void close() {
        try {
            client.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
