// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A member that takes the place of a store with greater tokens. */
class TokenFloorTest {
    /** As of a Redis whose tokens were lifted once: native ones are lower until 2033. */
    private static final long FLOOR = 1L << 60;

    private static final long PATIENCE = 20;

    @TempDir
    private Path directory;

    private final List<LockClient> clients = new ArrayList<>();

    @AfterEach
    void close() {
        clients.forEach(LockClient::close);
    }

    @Test
    void eachTokenIsGreaterAlsoThoseOfClientsThatSayNothing() throws Exception {
        for (String url : List.of("lock:native:mem://floor", "lock:native:local://" + directory)) {
            LockClient asking = open(url + "?tokenFloor=" + FLOOR);
            long first = token(asking, "a");
            assertThat(first).isGreaterThan(FLOOR);
            LockClient silent = open(url);
            long second = token(silent, "a");
            assertThat(second).isGreaterThan(first);
            assertThat(token(asking, "a")).isGreaterThan(second);
            assertThat(token(silent, "another")).isGreaterThan(FLOOR);
        }
    }

    @Test
    void theFloorIsRaisedOnlyWhenNobodyIsConnectedWhoWouldGoOnBelow() throws Exception {
        for (String url : List.of("lock:native:mem://raised", "lock:native:local://" + directory)) {
            LockClient silent = open(url);
            long before = token(silent, "a");
            // Tokens of worlds rise over those that have ended.
            long floor = before + (1L << 50);
            LockClient asking = open(url + "?requestTimeout=300ms&tokenFloor=" + floor);
            assertThatThrownBy(() -> asking.lock("a").tryAcquire())
                    .isInstanceOfSatisfying(
                            LockUnavailableException.class,
                            e -> assertThat(e.retryable()).isTrue())
                    .hasMessageContaining("tokenFloor=" + floor);
            CompletableFuture<Lease> waiting = asking.lock("a").acquireAsync();
            assertThat(token(silent, "a")).isBetween(before, floor);
            silent.close();
            Lease lease = waiting.get(Patience.seconds(PATIENCE), TimeUnit.SECONDS);
            assertThat(lease.token()).isGreaterThan(floor);
            lease.release();
        }
    }

    @Test
    void whoAsksForALowerFloorIsRefused() throws Exception {
        for (String url : List.of("lock:native:mem://lower", "lock:native:local://" + directory)) {
            long first = token(open(url + "?tokenFloor=" + FLOOR), "a");
            LockClient lower = open(url + "?tokenFloor=5");
            assertThatThrownBy(() -> lower.lock("a").tryAcquire())
                    .isInstanceOfSatisfying(
                            LockUnavailableException.class,
                            e -> assertThat(e.retryable()).isFalse())
                    .hasMessageContaining("tokenFloor=5")
                    .hasMessageContaining("tokenFloor=" + FLOOR)
                    .hasMessageContaining("leave it out");
            assertThat(token(open(url + "?tokenFloor=" + FLOOR), "a")).isGreaterThan(first);
        }
    }

    @Test
    void theFloorOutlastsTheEndOfAHost() throws Exception {
        String url = "lock:native:local://" + directory;
        LockClient asking = open(url + "?tokenFloor=" + FLOOR);
        long first = token(asking, "a");
        asking.close();
        assertThat(token(open(url), "a")).isGreaterThan(first);
    }

    @Test
    void theFloorOutlastsARestartOfAWorld() throws Exception {
        String url = "lock:native:mem://restarted";
        LockClient silent = open(url + "?clock=manual");
        LockClient asking = open(url + "?clock=manual&tokenFloor=" + FLOOR);
        long first = token(asking, "a");
        assertThat(first).isGreaterThan(FLOOR);
        silent.unwrap(MemoryWorld.class).restart();
        assertThat(token(silent, "a")).isGreaterThan(first);
    }

    /** A first start says nothing of leases of before, so that it is silent for a while. */
    @Test
    void aMemberOfAClusterStartsAboveItsFloor() throws Exception {
        String member = "127.0.0.1:" + Ports.free();
        String url = "lock:native://" + member + "/orders?maxTtl=500ms&ttl=500ms&shards=2";
        LockClient hosting = open(url + "&member=" + member + "&data=" + directory + "&tokenFloor=" + FLOOR);
        LockClient silent = open(url);
        for (int i = 0; i < 8; i++) {
            assertThat(token(silent, "orders/" + i)).isGreaterThan(FLOOR);
        }
        assertThat(token(hosting, "orders/0")).isGreaterThan(FLOOR);
    }

    @Test
    void whoIsAtWorkIsNotRefusedForAFloorThatAnotherRaised() throws Exception {
        String url = "lock:native:mem://differ?clock=manual";
        LockClient first = open(url + "&tokenFloor=5");
        for (int i = 0; i < 20; i++) {
            token(first, "b");
        }
        Lease held = first.lock("a").acquire();
        // Below the tokens that there are, so that it can be given at once.
        long other = held.token() - 10;
        assertThat(other).isGreaterThan(5);
        token(open(url + "&tokenFloor=" + other), "b");
        MemoryWorld world = first.unwrap(MemoryWorld.class);
        world.cut(true);
        world.advance(Duration.ofSeconds(6));
        world.cut(false);
        world.advance(Duration.ofSeconds(6));
        assertThat(held.isHeld()).isTrue();
    }

    @Test
    void aClientOfAClusterIsToldWhereToGiveIt() {
        assertThatThrownBy(() -> open("lock:native://127.0.0.1:1/orders?tokenFloor=5"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("keyway member --token-floor");
    }

    private LockClient open(String url) {
        LockClient client = Locks.open(url);
        clients.add(client);
        return client;
    }

    private static long token(LockClient client, String name) throws InterruptedException {
        try (Lease lease = client.lock(name).acquire()) {
            return lease.token();
        }
    }
}
