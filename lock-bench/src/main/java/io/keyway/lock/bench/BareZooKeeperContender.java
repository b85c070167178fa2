// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
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
 * The limit: an ephemeral sequential node is created and deleted, each with an answer, on ZooKeeper's own client. What
 * no lock on ephemeral sequential nodes can do without, and no more than that, so that nothing is safe:
 *
 * <ul>
 *   <li>alone, nobody is asked whether the node is the first;
 *   <li>in a queue, whatever happens to the node of the number before is taken for the lock.
 * </ul>
 */
final class BareZooKeeperContender implements Contender {
    // ZooKeeper looks for a null in it, which a List.of does not allow.
    private static final List<ACL> ANYONE =
            Collections.singletonList(new ACL(ZooDefs.Perms.ALL, new Id("world", "anyone")));

    private final ZooKeeper client;
    private final Set<String> parents = ConcurrentHashMap.newKeySet();
    private final boolean queue;

    private BareZooKeeperContender(String servers, boolean queue) throws IOException, InterruptedException {
        this.queue = queue;
        CountDownLatch connected = new CountDownLatch(1);
        client = new ZooKeeper(servers, 40_000, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        connected.await();
    }

    static Contender alone(String servers) throws IOException, InterruptedException {
        return new BareZooKeeperContender(servers, false);
    }

    static Contender queue(String servers) throws IOException, InterruptedException {
        return new BareZooKeeperContender(servers, true);
    }

    @Override
    public String name() {
        return queue ? "bare queue" : "bare nodes";
    }

    @Override
    public Hold take(String lock) throws Exception {
        String parent = "/bare-" + lock.replace('/', '-');
        if (parents.add(parent)) {
            make(parent);
        }
        String prefix = parent + "/x-";
        String path = client.create(prefix, new byte[0], ANYONE, CreateMode.EPHEMERAL_SEQUENTIAL);
        if (queue) {
            awaitEnd(prefix, Integer.parseInt(path.substring(prefix.length())) - 1);
        }
        return () -> client.delete(path, -1);
    }

    private void awaitEnd(String prefix, int before) throws InterruptedException {
        CountDownLatch over = new CountDownLatch(1);
        client.getData(
                prefix + String.format(Locale.ROOT, "%010d", before),
                event -> over.countDown(),
                (rc, asked, context, data, stat) -> {
                    if (rc != KeeperException.Code.OK.intValue()) {
                        over.countDown();
                    }
                },
                null);
        over.await();
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
