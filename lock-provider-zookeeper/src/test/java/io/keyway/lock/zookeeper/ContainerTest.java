// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** What a client knows about a queue without asking, what that saves, and that it is never wrong. */
class ContainerTest {
    // ZooKeeper looks for a null in it, which a List.of does not allow.
    private static final List<ACL> ANYONE =
            Collections.singletonList(new ACL(ZooDefs.Perms.ALL, new Id("world", "anyone")));

    @AutoClose
    private static OneServer server;

    private LockClient client;
    private LockClient other;
    private String name;
    private String container;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @BeforeEach
    void openTheClients(TestInfo test) {
        name = test.getTestMethod().orElseThrow().getName();
        container = new Paths("/keyway").container(LockKey.lock(LockName.of(name)));
        client = Locks.open(server.url() + "?ttl=10m&closeTimeout=2s");
        other = Locks.open(server.url() + "?ttl=10m&closeTimeout=2s");
    }

    @AfterEach
    void closeTheClients() {
        client.close();
        other.close();
    }

    private ZooKeeper handle() {
        return other.unwrap(ZooKeeper.class);
    }

    private List<String> nodes() throws Exception {
        return handle().getChildren(container, false).stream().sorted().toList();
    }

    private static void pairs(LockClient client, String name, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            client.lock(name).acquire().release();
        }
    }

    /** The client has used the lock often enough, and knows that it would be the first again. */
    private int untilItIsAnchored() throws Exception {
        other.lock(name + "-other").acquire().release();
        pairs(client, name, Container.BEFORE + 1);
        await().until(() -> nodes().size() == 1);
        pairs(client, name, 2);
        try (Lease lease = client.lock(name).acquire()) {
            assertThat(lease.isHeld()).isTrue();
            String request = nodes().stream()
                    .filter(node -> !node.startsWith("pledge-"))
                    .findFirst()
                    .orElseThrow();
            return NodeName.parse(request).orElseThrow().number();
        }
    }

    @Test
    void aPairCostsTwoRequestsIfNobodyComesInBetween() throws Exception {
        client.lock(name).acquire().release();
        long before = server.requests();

        pairs(client, name, 100);

        assertThat(server.requests() - before).isBetween(200L, 225L);
    }

    @Test
    void aPairCostsThreeRequestsIfSomebodyDoes() throws Exception {
        pairs(client, name, 10);
        pairs(other, name, 10);
        long before = server.requests();

        for (int i = 0; i < 50; i++) {
            pairs(client, name, 1);
            pairs(other, name, 1);
        }

        assertThat(server.requests() - before).isBetween(300L, 325L);
    }

    @Test
    void nobodyIsPassedBecauseOfWhatIsKnown() throws Exception {
        int last = untilItIsAnchored();

        try (Lease held = other.lock(name).acquire()) {
            assertThat(client.lock(name).tryAcquire()).isEmpty();
            assertThat(held.isHeld()).isTrue();
        }
        try (Lease next = client.lock(name).acquire()) {
            assertThat(nodes().get(0)).endsWith(String.format("-%010d", last + 3));
            assertThat(next.isHeld()).isTrue();
        }
    }

    @Test
    void whoeverDeletesTheAnchorByHandMakesNobodyBelieve() throws Exception {
        int last = untilItIsAnchored();
        String path = containerMadeAnewUpTo(last);

        // Its number would be the one that it counts on.
        assertThat(client.lock(name).tryAcquire()).isEmpty();

        handle().delete(path, -1);
        client.lock(name).acquire().release();
    }

    @Test
    void anAnswerThatOvertakesTheEndOfTheAnchorIsNotBelieved() throws Exception {
        int last = untilItIsAnchored();
        Future<Optional<Lease>> taken;
        try (HeldUpEvents untold = new HeldUpEvents(client.unwrap(ZooKeeper.class))) {
            String first = containerMadeAnewUpTo(last);

            taken = ForkJoinPool.commonPool().submit(() -> client.lock(name).tryAcquire());
            await().until(() -> nodes().size() == 2);
            assertThat(handle().exists(first, false)).isNotNull();
        }
        assertThat(taken.get()).isEmpty();
    }

    /** Numbers begin anew; returns the node of that number, which is the first in the queue. */
    private String containerMadeAnewUpTo(int last) throws Exception {
        ZooKeeper tool = handle();
        for (String node : nodes()) {
            tool.delete(container + "/" + node, -1);
        }
        tool.delete(container, -1);
        tool.create(container, new byte[0], ANYONE, CreateMode.CONTAINER);
        String path = "";
        for (int i = 0; i <= last; i++) {
            if (!path.isEmpty()) {
                tool.delete(path, -1);
            }
            path = tool.create(container + "/ff-1-x-", new byte[0], ANYONE, CreateMode.EPHEMERAL_SEQUENTIAL);
        }
        assertThat(path).endsWith(String.format("-%010d", last));
        return path;
    }

    @Test
    @Tag("soak")
    void anAnchorKeepsNoContainerForEver() throws Exception {
        untilItIsAnchored();

        for (int i = 0; i <= Containers.KEPT; i++) {
            client.lock(name + "-" + i).acquire().release();
        }

        await().until(() -> {
            try {
                return nodes().isEmpty();
            } catch (KeeperException.NoNodeException e) {
                return true;
            }
        });
    }
}
