// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockStatus;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.redis.server.RedisCluster;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A store that takes the place of one with greater tokens. */
class TokenFloorTest {

    /** As the native provider makes them; more than a number of Lua holds. */
    private static final long FLOOR = 471_234_567_890_123_457L;

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final long PATIENCE = 20;

    @TempDir
    private Path directory;

    @AutoClose
    private RedisServer server;

    private final List<LockClient> clients = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        server = RedisServer.start(directory);
    }

    @AfterEach
    void close() {
        clients.forEach(LockClient::close);
    }

    @Test
    void eachTokenIsGreaterAlsoThoseOfClientsThatSayNothing() throws Exception {
        LockClient silent = client("");
        long before = token(silent, "a");
        assertThat(before).isLessThan(FLOOR);
        LockClient asking = client("?tokenFloor=" + FLOOR);
        long lifted = token(asking, "a");
        assertThat(lifted).isGreaterThan(FLOOR);
        long next = token(silent, "a");
        assertThat(next).isGreaterThan(lifted);
        assertThat(token(client(""), "a")).isGreaterThan(next);
        assertThat(token(silent, "another")).isGreaterThan(FLOOR);
    }

    @Test
    void readersPermitsConversionsAndHandOversHaveGreaterTokensToo() throws Exception {
        LockClient asking = client("?tokenFloor=" + FLOOR);
        LockClient silent = client("");
        DistributedReadWriteLock document = asking.readWriteLock("document");
        Lease read = document.read().acquire();
        assertThat(read.token()).isGreaterThan(FLOOR);
        Lease write = document.tryUpgrade(read, Duration.ZERO).orElseThrow();
        assertThat(write.token()).isGreaterThan(read.token());
        Lease again = document.downgrade(write);
        assertThat(again.token()).isGreaterThan(write.token());
        assertThat(again.release()).isEqualTo(ReleaseOutcome.RELEASED);

        try (Lease one = silent.semaphore("printers", Capacity.of(2)).acquire();
                Lease two = asking.semaphore("printers", Capacity.of(2)).acquire()) {
            assertThat(one.token()).isGreaterThan(FLOOR);
            assertThat(two.token()).isGreaterThan(one.token());
        }

        Lease held = asking.lock("a").acquire();
        CompletableFuture<Lease> waiting = silent.lock("a").acquireAsync();
        await().until(() -> status(asking, "a").waiters().size() == 1);
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease handed = waiting.get(Patience.seconds(PATIENCE), TimeUnit.SECONDS);
        assertThat(handed.token()).isGreaterThan(held.token());
        assertThat(handed.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(server.ask("EXISTS", "keyway:{a}:l")).isEqualTo(0L);
    }

    @Test
    void aLeaseGoesByOneTokenFromItsGrantToItsEnd() throws Exception {
        LockClient early = client("");
        Lease before = early.lock("before").acquire();
        LockClient asking = client("?tokenFloor=" + FLOOR);
        Duration ttl = Patience.lease(Duration.ofSeconds(1));
        Lease held = asking.lock("a").with(LockOptions.none().withTtl(ttl)).acquire();
        assertThat(shown(asking, "before")).isEqualTo(before.token());
        assertThat(shown(early, "a")).isEqualTo(held.token());

        await().during(ttl.multipliedBy(3).dividedBy(2))
                .atMost(Patience.of(Duration.ofSeconds(PATIENCE)))
                .until(held::isHeld);
        assertThat(early.admin().breakLease(LockKey.lock("a"), held.token() - FLOOR, "not its token"))
                .isFalse();
        assertThat(early.admin().breakLease(LockKey.lock("a"), held.token(), "for the test"))
                .isTrue();
        LeaseLoss loss = held.lost().toCompletableFuture().get(Patience.seconds(PATIENCE), TimeUnit.SECONDS);
        assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.BROKEN);
        assertThat(before.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void aFloorIsRaisedOnlyAndWhoAsksForALowerOneIsRefused() throws Exception {
        long first = token(client("?tokenFloor=" + FLOOR), "a");
        assertThat(token(client("?tokenFloor=" + FLOOR), "a")).isGreaterThan(first);
        LockClient lower = client("?tokenFloor=5");
        assertThatThrownBy(() -> lower.lock("a").acquire())
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("tokenFloor=5")
                .hasMessageContaining("tokenFloor=" + FLOOR)
                .hasMessageContaining("leave it out");
        long higher = first + 1;
        assertThat(token(client("?tokenFloor=" + higher), "a")).isGreaterThan(higher);
        assertThatThrownBy(() -> client("?connect=eager&tokenFloor=" + FLOOR))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("tokenFloor=" + higher);
    }

    @Test
    void theFloorOutlastsARestartAndWhoKnowsItTellsAServerThatForgotIt() throws Exception {
        LockClient silent = client("");
        long lifted = token(client("?tokenFloor=" + FLOOR), "a");
        long known = token(silent, "a");
        assertThat(known).isGreaterThan(lifted);
        server.kill();
        server.restart();
        long after = token(client(""), "a");
        assertThat(after).isGreaterThan(known);
        server.kill();
        server.restartEmpty();
        long told = token(silent, "a");
        assertThat(told).isGreaterThan(after);
        assertThat(token(client(""), "a")).isGreaterThan(told);
    }

    @Test
    void whoWasGrantedByAMessageTellsAServerThatForgotItToo() throws Exception {
        LockClient asking = client("?tokenFloor=" + FLOOR);
        LockClient silent = client("");
        Lease held = asking.lock("a").acquire();
        CompletableFuture<Lease> waiting = silent.lock("a").acquireAsync();
        await().until(() -> status(asking, "a").waiters().size() == 1);
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease handed = waiting.get(Patience.seconds(PATIENCE), TimeUnit.SECONDS);
        assertThat(handed.token()).isGreaterThan(FLOOR);
        assertThat(handed.release()).isEqualTo(ReleaseOutcome.RELEASED);
        server.kill();
        server.restartEmpty();
        assertThat(token(silent, "a")).isGreaterThan(handed.token());
    }

    @Test
    void whoWaitsTellsAServerThatForgotItToo() throws Exception {
        LockClient asking = client("?tokenFloor=" + FLOOR);
        long before = token(asking, "a");
        assertThat(server.ask("FLUSHALL")).isNotNull();
        Lease low = client("").lock("a").acquire();
        CompletableFuture<Lease> waiting = asking.lock("a").acquireAsync();
        await().until(() -> status(asking, "a").waiters().size() == 1);
        assertThat(low.release()).isEqualTo(ReleaseOutcome.RELEASED);
        try (Lease handed = waiting.get(Patience.seconds(PATIENCE), TimeUnit.SECONDS)) {
            assertThat(handed.token()).isGreaterThan(before);
        }
    }

    @Test
    @Tag("soak")
    void inAClusterAllSlotsHaveIt() throws Exception {
        try (RedisCluster cluster = RedisCluster.start(RedisExecutable.brought(), directory)) {
            LockClient asking = open(cluster.url() + "?connect=eager&tokenFloor=" + FLOOR);
            LockClient silent = open(cluster.url());
            for (int i = 0; i < 100; i++) {
                long token = token(silent, "orders/" + i);
                assertThat(token).isGreaterThan(FLOOR);
                assertThat(token(asking, "orders/" + i)).isGreaterThan(token);
            }
            assertThatThrownBy(() -> open(cluster.url() + "?connect=eager&tokenFloor=5"))
                    .isInstanceOf(InvalidLockUrlException.class);
        }
    }

    private LockClient client(String options) {
        return open(server.url() + options);
    }

    private LockClient open(String url) {
        LockClient client = Locks.open(
                url, ClientOptions.defaults().withDefaults(LockOptions.none().withTtl(TTL)));
        clients.add(client);
        return client;
    }

    private static long token(LockClient client, String name) throws InterruptedException {
        try (Lease lease = client.lock(name).acquire()) {
            return lease.token();
        }
    }

    private static LockStatus status(LockClient client, String name) throws InterruptedException {
        return client.admin().show(LockKey.lock(LockName.of(name))).orElseThrow();
    }

    private static long shown(LockClient client, String name) throws InterruptedException {
        return status(client, name).holders().get(0).token().orElseThrow();
    }
}
