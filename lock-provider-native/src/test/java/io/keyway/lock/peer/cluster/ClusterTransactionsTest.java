// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.DeadlockException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.Locks;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Circles over the locks of three members: no member knows more than one edge. */
class ClusterTransactionsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int SIZE = 5;

    @TempDir
    Path directory;

    private TestMembers members;
    private final List<LockClient> clients = new ArrayList<>();
    private final ExecutorService threads = Executors.newFixedThreadPool(SIZE);

    @BeforeEach
    void start() throws Exception {
        members = new TestMembers(directory, "a", "b", "c");
        List<ClusterMember> all = members.startAll("abc", Duration.ofSeconds(10), true);
        await().atMost(Patience.of(PATIENCE)).until(() -> all.stream().noneMatch(ClusterMember::quarantined));
        for (int i = 0; i < SIZE; i++) {
            clients.add(
                    Locks.open("lock:native://" + String.join(",", members.ids("abc")) + "/keyway?maxTtl=10s&ttl=10s"));
        }
    }

    @AfterEach
    void end() throws Exception {
        threads.shutdownNow();
        assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        clients.forEach(LockClient::close);
        members.close();
    }

    /** Each takes its lock and then the next one's, again and again. */
    @Test
    void aCircleOfFiveIsResolvedAgainAndAgain() throws Exception {
        for (int round = 0; round < 5; round++) {
            List<LockTransaction> ring = new ArrayList<>();
            for (int i = 0; i < SIZE; i++) {
                ring.add(clients.get(i).transaction());
                ring.get(i).lock("ring/" + i);
            }
            List<Future<Boolean>> ends = new ArrayList<>();
            for (int i = 0; i < SIZE; i++) {
                LockTransaction transaction = ring.get(i);
                String next = "ring/" + (i + 1) % SIZE;
                ends.add(threads.submit(() -> {
                    try (transaction) {
                        transaction.lock(next);
                        transaction.ensureHeld();
                        return false;
                    } catch (DeadlockException e) {
                        assertThat(e.deadlock().orElseThrow().cycle()).hasSize(SIZE);
                        return true;
                    }
                }));
            }
            assertThat(count(ends)).as("victims of one circle").isEqualTo(1);
        }
    }

    @Test
    void allWhoAskAtOnceGetAllInTurn() throws Exception {
        List<Future<Boolean>> ends = new ArrayList<>();
        for (int i = 0; i < SIZE; i++) {
            int first = i;
            ends.add(threads.submit(() -> {
                boolean all = true;
                for (int round = 0; round < 10; round++) {
                    List<LockRequest> wanted = new ArrayList<>();
                    for (int lock = 0; lock < SIZE; lock++) {
                        wanted.add(LockRequest.exclusive("all/" + (first + lock) % SIZE));
                    }
                    try (LockTransaction transaction = clients.get(first).transaction(TransactionOptions.defaults())) {
                        transaction.lockAsync(wanted);
                        all &= transaction.awaitAll(Patience.of(PATIENCE));
                        transaction.ensureHeld();
                    }
                }
                return all;
            }));
        }
        assertThat(count(ends)).as("users who got all their locks").isEqualTo(SIZE);
    }

    private static int count(List<Future<Boolean>> ends)
            throws InterruptedException, ExecutionException, java.util.concurrent.TimeoutException {
        int yes = 0;
        for (Future<Boolean> end : ends) {
            yes += end.get(PATIENCE.toSeconds(), TimeUnit.SECONDS) ? 1 : 0;
        }
        return yes;
    }
}
