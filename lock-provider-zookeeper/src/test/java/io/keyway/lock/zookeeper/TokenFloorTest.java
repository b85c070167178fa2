// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** An ensemble that takes the place of a store with greater tokens. */
class TokenFloorTest {
    private static final long FLOOR = 471_234_567_890_123_457L;
    private static final long PATIENCE = 20;

    @AutoClose
    private static OneServer server;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private String base;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @BeforeEach
    void useAPathOfItsOwn(TestInfo test) {
        base = "/floors/" + test.getTestMethod().orElseThrow().getName();
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    @Test
    void eachTokenIsGreaterAlsoThoseOfClientsThatSayNothing() throws Exception {
        LockClient asking = client("?tokenFloor=" + FLOOR);
        long first = token(asking, "a");
        assertThat(first).isGreaterThan(FLOOR);
        LockClient silent = client("");
        long second = token(silent, "a");
        assertThat(second).isGreaterThan(first);
        assertThat(token(asking, "a")).isGreaterThan(second);
        Lease one = silent.semaphore("printers", Capacity.of(2)).acquire();
        Lease two = asking.semaphore("printers", Capacity.of(2)).acquire();
        assertThat(two.token()).isGreaterThan(one.token());
        assertThat(one.token()).isGreaterThan(FLOOR);
        assertThat(one.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(two.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void aHandOverAndABreakNameOneToken() throws Exception {
        LockClient asking = client("?tokenFloor=" + FLOOR);
        LockClient silent = client("");
        Lease held = asking.lock("a").acquire();
        CompletableFuture<Lease> waiting = silent.lock("a").acquireAsync();
        await().until(() -> status(asking, "a").waiters().size() == 1);
        assertThat(status(silent, "a").holders().get(0).token()).hasValue(held.token());
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease handed = waiting.get(Patience.seconds(PATIENCE), TimeUnit.SECONDS);
        assertThat(handed.token()).isGreaterThan(held.token());

        LockKey key = LockKey.lock("a");
        assertThat(asking.admin().breakLease(key, handed.token() - FLOOR, "not its token"))
                .isFalse();
        assertThat(asking.admin().breakLease(key, handed.token(), "for the test"))
                .isTrue();
        LeaseLoss loss = handed.lost().toCompletableFuture().get(Patience.seconds(PATIENCE), TimeUnit.SECONDS);
        assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.BROKEN);
        assertThat(token(asking, "a")).isGreaterThan(handed.token());
    }

    @Test
    void aLeaseIsRenewed() throws Exception {
        long ttl = Patience.leaseSeconds(1);
        Lease held = client("?ttl=" + ttl + "s&tokenFloor=" + FLOOR).lock("a").acquire();
        await().during(Duration.ofMillis(1500 * ttl))
                .atMost(Patience.of(Duration.ofSeconds(PATIENCE)))
                .until(held::isHeld);
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void theFloorIsRaisedOnlyWhileNobodyIsConnectedWhoWouldGoOnBelow() throws Exception {
        LockClient silent = client("");
        long before = token(silent, "a");
        assertThat(before).isLessThan(FLOOR);
        LockClient asking = client("?tokenFloor=" + FLOOR);
        assertThatThrownBy(() -> asking.lock("a").tryAcquire())
                .isInstanceOfSatisfying(
                        LockUnavailableException.class,
                        e -> assertThat(e.retryable()).isTrue())
                .hasMessageContaining("tokenFloor=" + FLOOR)
                .hasMessageContaining("Stop them");
        CompletableFuture<Lease> waiting = asking.lock("a").acquireAsync();
        assertThat(token(silent, "a")).isBetween(before, FLOOR);
        silent.close();
        Lease lease = waiting.get(Patience.seconds(PATIENCE), TimeUnit.SECONDS);
        assertThat(lease.token()).isGreaterThan(FLOOR);
        lease.release();
    }

    @Test
    void whoAsksForALowerFloorIsRefused() throws Exception {
        LockClient asking = client("?tokenFloor=" + FLOOR);
        long first = token(asking, "a");
        LockClient lower = client("?tokenFloor=5");
        assertThatThrownBy(() -> lower.lock("a").acquire())
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("tokenFloor=5")
                .hasMessageContaining("tokenFloor=" + FLOOR);
        assertThatThrownBy(() -> client("?connect=eager&tokenFloor=5")).isInstanceOf(InvalidLockUrlException.class);
        assertThat(token(client("?connect=eager&tokenFloor=" + FLOOR), "a")).isGreaterThan(first);
    }

    @Test
    void whoLacksTheRightToRaiseItIsToldSoAtOnce() throws Exception {
        LockClient silent = client("");
        token(silent, "a");
        silent.unwrap(ZooKeeper.class).setACL(base, anyone(Perms.ALL & ~Perms.DELETE), -1);
        silent.close();
        LockClient asking = client("?tokenFloor=" + FLOOR);
        assertThatThrownBy(() -> asking.lock("a").tryAcquire())
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("lack the right")
                .hasMessageContaining(base);
    }

    @Test
    void whatIsNoFloorIsSaidToBeNone() throws Exception {
        LockClient silent = client("");
        token(silent, "a");
        silent.unwrap(ZooKeeper.class)
                .create(base + "/token-floor", new byte[] {'x'}, anyone(Perms.ALL), CreateMode.PERSISTENT);
        silent.close();
        LockClient asking = client("?tokenFloor=" + FLOOR);
        assertThatThrownBy(() -> asking.lock("a").tryAcquire())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(base + "/token-floor");
    }

    @Test
    void theFloorOutlastsTheServer() throws Exception {
        LockClient asking = client("?tokenFloor=" + FLOOR);
        long first = token(asking, "a");
        asking.close();
        server.restart();
        assertThat(token(client(""), "a")).isGreaterThan(first);
    }

    /** As after a pause in which all others have gone and the floor was raised. */
    @Test
    void aSessionThatBeginsAnewReadsTheFloorAnew() throws Exception {
        LockClient silent = client("");
        Lease lost = silent.lock("a").acquire();
        assertThat(lost.token()).isLessThan(FLOOR);
        server.kill(silent.unwrap(ZooKeeper.class));
        lost.lost().toCompletableFuture().get(Patience.seconds(PATIENCE), TimeUnit.SECONDS);
        long raised = token(client("?tokenFloor=" + FLOOR), "a");
        assertThat(raised).isGreaterThan(FLOOR);
        assertThat(token(silent, "a")).isGreaterThan(raised);
    }

    /** Of one session two clients; the one that closes takes the session's node along, which the other makes again. */
    @Test
    void aClientThatClosesInASharedSessionLeavesTheOtherItsFloor() throws Exception {
        CuratorFramework framework = CuratorFrameworkFactory.builder()
                .connectString(server.address())
                .sessionTimeoutMs(8_000)
                .connectionTimeoutMs(8_000)
                .retryPolicy(new RetryOneTime(100))
                .ensembleTracker(false)
                .zkClientConfig(new PlainConfig())
                .build();
        framework.start();
        try (framework) {
            long first = token(client("?tokenFloor=" + FLOOR), "a");
            ClientOptions shared = ClientOptions.defaults().with(ZooKeeperOptions.CURATOR, framework);
            LockClient one = Locks.open("lock:zookeeper://" + base, shared);
            LockClient two = Locks.open("lock:zookeeper://" + base, shared);
            opened.add(one);
            opened.add(two);
            long second = token(one, "a");
            assertThat(second).isGreaterThan(first);
            Lease held = two.lock("a").acquire();
            assertThat(held.token()).isGreaterThan(second);
            one.close();
            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(token(two, "a")).isGreaterThan(held.token());
        }
    }

    private static List<ACL> anyone(int rights) {
        return Collections.singletonList(new ACL(rights, new Id("world", "anyone")));
    }

    private LockClient client(String options) {
        LockClient client = Locks.open("lock:zookeeper://" + server.address() + base + options);
        opened.add(client);
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
}
