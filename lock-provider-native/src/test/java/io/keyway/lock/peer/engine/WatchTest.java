// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockSnapshot;
import io.keyway.lock.LockStatus;
import io.keyway.lock.Locks;
import io.keyway.lock.Subscription;
import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.spi.ClientServices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Watchers of a lock of the lease service, which is told by its member; in virtual time. */
class WatchTest {
    private static final LockKey KEY = LockKey.lock("x");
    private static final Duration NEVER = Duration.ofHours(1);
    private static final Duration SOON = Duration.ofMillis(200);

    private final List<LockClient> clients = new ArrayList<>();
    private final List<LockSnapshot> told = Collections.synchronizedList(new ArrayList<>());
    private String url;
    private MemoryWorld world;

    @BeforeEach
    void open() {
        url = "lock:native:mem://watch" + System.nanoTime() + "?clock=manual&maxTtl=15s&cache=off";
        world = client().unwrap(MemoryWorld.class);
    }

    @AfterEach
    void close() {
        clients.forEach(LockClient::close);
    }

    private LockClient client() {
        LockClient client = Locks.open(url);
        clients.add(client);
        return client;
    }

    private boolean isLast(Predicate<LockStatus> test) {
        LockSnapshot last = told.isEmpty() ? null : told.get(told.size() - 1);
        return last != null && last.certain() && test.test(last.status());
    }

    private void until(Duration limit, Predicate<LockStatus> test) throws InterruptedException {
        world.advanceUntil(() -> isLast(test), limit);
    }

    private static Predicate<LockStatus> heldBy(Lease lease) {
        return status ->
                status.holders().size() == 1 && status.holders().get(0).token().getAsLong() == lease.token();
    }

    @Test
    void theMemberTellsOfEachChangeAtOnce() throws Exception {
        LockClient one = client();
        LockClient other = client();
        try (Subscription watch = clients.get(0).watch(KEY, NEVER, told::add)) {
            until(SOON, status -> status.holders().isEmpty());
            Lease first = one.lock("x").acquire();
            until(SOON, heldBy(first));
            var waits = other.lock("x").acquireAsync();
            until(SOON, status -> status.waiters().size() == 1);
            first.release();
            world.advanceUntil(() -> waits.toCompletableFuture().isDone(), SOON);
            Lease second = waits.toCompletableFuture().join();
            until(SOON, heldBy(second).and(status -> status.waiters().isEmpty()));
            second.release();
            until(SOON, status -> status.holders().isEmpty());
        }
        assertThat(told)
                .extracting(LockSnapshot::version)
                .doesNotHaveDuplicates()
                .isSorted();
    }

    @Test
    void aWatcherGoesOnAfterALongSilenceAndARestart() throws Exception {
        LockClient one = client();
        try (Subscription watch = clients.get(0).watch(KEY, NEVER, told::add)) {
            until(SOON, status -> status.holders().isEmpty());
            int before = told.size();
            world.advance(Duration.ofMinutes(5));
            assertThat(told).hasSize(before);
            Lease first = one.lock("x").acquire();
            until(SOON, heldBy(first));
            world.restart();
            world.advance(Duration.ofSeconds(40));
            first.release();
            until(Duration.ofSeconds(10), status -> status.holders().isEmpty());
            Lease second = one.lock("x").acquire();
            until(SOON, heldBy(second));
            second.release();
        }
    }

    @Test
    void whatHappensWithinOneClientIsSeenAfterTheInterval() throws Exception {
        LockClient caching = Locks.open(url.replace("cache=off", "cache=on"));
        clients.add(caching);
        try (Subscription watch = clients.get(0).watch(KEY, Duration.ofSeconds(2), told::add)) {
            Lease lease = caching.lock("x").acquire();
            until(SOON, heldBy(lease));
            lease.release();
            until(Duration.ofSeconds(3), status -> status.holders().isEmpty());
        }
    }

    @Test
    void manyWatchersAreToldOneByOneAndOnesEndIsItsOwn() throws Exception {
        List<List<LockSnapshot>> all = new ArrayList<>();
        List<Subscription> watches = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            List<LockSnapshot> each = Collections.synchronizedList(new ArrayList<>());
            all.add(each);
            watches.add(clients.get(0).watch(KEY, NEVER, each::add));
        }
        world.advanceUntil(() -> all.stream().noneMatch(List::isEmpty), SOON);
        watches.get(0).close();
        Lease lease = client().lock("x").acquire();
        world.advanceUntil(
                () -> all.stream()
                        .skip(1)
                        .allMatch(each -> !each.get(each.size() - 1).isFree()),
                SOON);
        assertThat(all.get(0)).hasSize(1);
        lease.release();
        watches.forEach(Subscription::close);
    }

    @Test
    void aVersionIsAnsweredWhenItIsOverAndAtTheLimit() throws Exception {
        ClientServices services = clients.get(0).unwrap(ClientServices.class);
        Duration limit = Duration.ofSeconds(8);
        var first = services.change(KEY, 0, limit).orElseThrow().toCompletableFuture();
        world.advanceUntil(first::isDone, SOON);
        long free = first.join();
        assertThat(free).isPositive();
        var same = services.change(KEY, free, limit).orElseThrow().toCompletableFuture();
        world.advance(Duration.ofSeconds(3));
        assertThat(same).isNotDone();
        world.advance(Duration.ofSeconds(2));
        assertThat(same).isCompletedWithValue(free);
        var changed = services.change(KEY, free, limit).orElseThrow().toCompletableFuture();
        Lease lease = client().lock("x").acquire();
        world.advanceUntil(changed::isDone, SOON);
        assertThat(changed.join()).isPositive().isNotEqualTo(free);
        lease.release();
        var again = services.change(KEY, changed.join(), limit).orElseThrow().toCompletableFuture();
        world.advanceUntil(again::isDone, SOON);
        assertThat(again.join()).as("the version of a free lock").isEqualTo(free);
    }

    @Test
    void aClosedClientTellsNothing() throws Exception {
        LockClient watcher = client();
        watcher.watch(KEY, Duration.ofMillis(100), told::add);
        until(SOON, status -> status.holders().isEmpty());
        watcher.close();
        int before = told.size();
        Lease lease = client().lock("x").acquire();
        world.advance(Duration.ofSeconds(5));
        assertThat(told).hasSize(before);
        lease.release();
    }
}
