// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Whom the one before it leaves to: only who held hands over. */
class HandOverTest {
    @AutoClose
    private static OneServer server;

    private final List<LockClient> clients = new ArrayList<>();
    private LockClient first;
    private LockClient second;
    private LockClient third;
    private String name;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @BeforeEach
    void openTheClients(TestInfo test) {
        name = test.getTestMethod().orElseThrow().getName();
        for (int i = 0; i < 3; i++) {
            clients.add(Locks.open(server.url() + "?ttl=10m&closeTimeout=2s"));
        }
        first = clients.get(0);
        second = clients.get(1);
        third = clients.get(2);
    }

    @AfterEach
    void closeTheClients() {
        clients.forEach(LockClient::close);
    }

    private static ZooKeeper handle(LockClient client) {
        return client.unwrap(ZooKeeper.class);
    }

    private long standing() throws Exception {
        String container = new Paths("/keyway").container(LockKey.lock(LockName.of(name)));
        return handle(first).getChildren(container, false).stream()
                .filter(node -> NodeName.parse(node).isPresent())
                .count();
    }

    private CompletableFuture<Lease> waiting(LockClient client, int place) {
        CompletableFuture<Lease> lease = client.lock(name).acquireAsync();
        await().until(() -> standing() == place);
        return lease;
    }

    /** What the server has told this client before has come to it, and what it asked because of that is answered. */
    private void settle(LockClient client) throws Exception {
        for (int i = 0; i < 3; i++) {
            client.lock(name + "-elsewhere").acquire().release();
        }
    }

    @Test
    void whoGivesUpHandsNothingOver() throws Exception {
        Lease held = first.lock(name).acquire();
        CompletableFuture<Lease> gives = waiting(second, 2);
        CompletableFuture<Lease> waits = waiting(third, 3);
        settle(third);

        assertThat(gives.cancel(true)).isTrue();
        await().until(() -> standing() == 2);
        settle(third);

        assertThat(waits).isNotDone();
        held.release();
        waits.get().release();
    }

    @Test
    void aWaiterWhoseSessionEndsHandsNothingOver() throws Exception {
        Lease held = first.lock(name).acquire();
        CompletableFuture<Lease> ends = waiting(second, 2);
        CompletableFuture<Lease> waits = waiting(third, 3);
        settle(third);

        server.kill(handle(second));
        // It waits anew, behind.
        await().until(() -> standing() == 3);
        settle(third);

        assertThat(waits).isNotDone();
        held.release();
        waits.get().release();
        ends.get().release();
    }

    @Test
    void aBrokenLeaseIsHandedOverByItsReleaseAlone() throws Exception {
        Lease held = first.lock(name).acquire();
        CompletableFuture<Lease> next = waiting(second, 2);
        CompletableFuture<Lease> waits = waiting(third, 3);
        settle(third);
        held.release();
        Lease broken = next.get();

        assertThat(third.admin().breakLease(LockKey.lock(LockName.of(name)), broken.token(), "for a test"))
                .isTrue();

        try (Lease after = waits.get()) {
            assertThat(broken.isHeld()).isFalse();
            assertThat(broken.lost().toCompletableFuture().get())
                    .returns(LeaseLoss.Cause.BROKEN, LeaseLoss::cause)
                    .returns("for a test", LeaseLoss::detail);
            assertThat(broken.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
            assertThat(after.token()).isGreaterThan(broken.token());
        }
    }

    @Test
    void aHandOverInALongLineCostsFourRequests() throws Exception {
        // Those of the last two hand-overs may come after the count.
        assertThat(requestsOfHandOvers(60)).isBetween(232L, 280L);
    }

    /** In a line of six, of the clients in turn. */
    private long requestsOfHandOvers(int rounds) throws Exception {
        first.lock(name).acquire().release();
        List<CompletableFuture<Lease>> line = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            line.add(clients.get(i % clients.size()).lock(name).acquireAsync());
        }
        await().until(() -> standing() == 6);
        long before = server.requests();

        for (int i = 0; i < rounds; i++) {
            CompletableFuture.anyOf(line.toArray(CompletableFuture[]::new)).get();
            CompletableFuture<Lease> next =
                    line.stream().filter(CompletableFuture::isDone).findFirst().orElseThrow();
            line.removeIf(lease -> lease == next);
            line.add(clients.get(i % clients.size()).lock(name).acquireAsync());
            assertThat(next.get().release()).isEqualTo(ReleaseOutcome.RELEASED);
        }

        long requests = server.requests() - before;
        await().until(() -> standing() == 6);
        CompletableFuture.allOf(line.stream()
                        .map(lease -> lease.thenAccept(Lease::close))
                        .toArray(CompletableFuture[]::new))
                .get();
        return requests;
    }
}
