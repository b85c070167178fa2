// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Capacity;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What many tries, waiters and names cost. */
class CrowdTest {
    @AutoClose
    private static OneServer server;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    private static LockClient client(String options) {
        return Locks.open(server.url() + "?closeTimeout=20s&" + options);
    }

    @Test
    void timedTriesBehindALongHolderLeaveNoWatchersBehind() throws Exception {
        try (LockClient holder = client("ttl=10m");
                LockClient tries = client("ttl=10m");
                Lease held = holder.lock("long").acquire();
                Lease reads = holder.readWriteLock("read").read().acquire();
                Lease permits = holder.semaphore("permits", Capacity.of(2)).acquire(2)) {
            tries.lock("other").acquire().release();
            for (int i = 0; i < 20; i++) {
                Duration soon = Duration.ofMillis(20);
                tried(() -> tries.lock("long").tryAcquire(soon));
                tried(() -> tries.readWriteLock("long").read().tryAcquire(soon));
                tried(() -> tries.readWriteLock("read").write().tryAcquire(soon));
                tried(() -> tries.semaphore("permits", Capacity.of(2)).tryAcquire(soon));
            }
            assertThat(List.of(held, reads, permits)).allMatch(Lease::isHeld);
            await().untilAsserted(() ->
                    assertThat(Watchers.all(tries.unwrap(ZooKeeper.class))).hasSizeLessThan(8));
        }
    }

    /** On a busy machine a try may end before it is answered. */
    private static void tried(Callable<Optional<Lease>> once) throws Exception {
        try {
            assertThat(once.call()).isEmpty();
        } catch (LockUnavailableException e) {
            assertThat(e).hasMessageContaining("within");
        }
    }

    /** In a term each waiter looks after the one before it; it would be megabytes if each listed its line. */
    @Test
    @Tag("soak")
    void fiveThousandWaitersOnOneNameCostOneSmallRequestEachInATerm() throws Exception {
        int waiters = 5_000;
        Duration ttl = Duration.ofSeconds(20);
        try (LockClient holder = client("ttl=20s&requestTimeout=20s");
                LockClient crowd = client("ttl=20s&requestTimeout=20s");
                Lease held = holder.lock("crowd").acquire()) {
            long begun = System.nanoTime();
            List<CompletableFuture<Lease>> line = new ArrayList<>();
            for (int i = 0; i < waiters; i++) {
                line.add(crowd.lock("crowd").acquireAsync());
            }
            LockKey key = LockKey.lock(LockName.of("crowd"));
            String container = new Paths("/keyway").container(key);
            await().atMost(Patience.of(Duration.ofMinutes(3)))
                    .until(() -> holder.unwrap(ZooKeeper.class)
                                    .getChildren(container, false)
                                    .size()
                            > waiters);
            say("all wait", begun, waiters);
            long before = server.requests();
            LockSupport.parkNanos(2 * ttl.toNanos());
            long requests = server.requests() - before;
            System.out.println("CrowdTest: requests in two terms " + requests);
            assertThat(requests).isLessThan(4L * waiters);
            assertThat(held.isHeld()).isTrue();

            begun = System.nanoTime();
            held.release();
            for (int i = 0; i < 1_000; i++) {
                CompletableFuture.anyOf(
                                line.subList(0, Math.min(line.size(), 50)).toArray(CompletableFuture[]::new))
                        .get();
                CompletableFuture<Lease> next = line.stream()
                        .filter(CompletableFuture::isDone)
                        .findFirst()
                        .orElseThrow();
                line.removeIf(each -> each == next);
                next.get().release();
            }
            say("hand-overs", begun, 1_000);
            begun = System.nanoTime();
            line.forEach(lease -> lease.cancel(true));
            await().atMost(Patience.of(Duration.ofMinutes(3)))
                    .until(() -> holder.unwrap(ZooKeeper.class)
                                    .getChildren(container, false)
                                    .size()
                            < 3);
            say("gone", begun, line.size());
        }
    }

    @Test
    @Tag("soak")
    void aHundredThousandNamesAreHeldByOneClient() throws Exception {
        int names = 100_000;
        try (LockClient client = client("ttl=60s&requestTimeout=20s")) {
            long begun = System.nanoTime();
            List<Lease> leases = new ArrayList<>();
            int batch = 1_000;
            for (int from = 0; from < names; from += batch) {
                List<CompletableFuture<Lease>> some = IntStream.range(from, from + batch)
                        .mapToObj(i -> client.lock("names/" + i).acquireAsync())
                        .toList();
                for (CompletableFuture<Lease> each : some) {
                    leases.add(each.get());
                }
                if (from % 20_000 == 0) {
                    say("held", begun, from + batch);
                }
            }
            say("all held", begun, names);
            begun = System.nanoTime();
            Optional<Lease> more = client.lock("one-more").tryAcquire();
            more.orElseThrow().release();
            say("one more", begun, 1);
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(45));
            assertThat(leases).allMatch(Lease::isHeld);
            begun = System.nanoTime();
            CompletableFuture.allOf(leases.stream()
                            .map(lease -> lease.releaseAsync().toCompletableFuture())
                            .toArray(CompletableFuture[]::new))
                    .get();
            say("released", begun, names);
        }
    }

    private static void say(String what, long begun, int count) {
        double seconds = (System.nanoTime() - begun) / 1e9;
        System.out.printf("CrowdTest: %s: %d in %.1f s, %.0f us each%n", what, count, seconds, 1e6 * seconds / count);
    }
}
