// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/**
 * Defects that lock recipes on ZooKeeper have had, Curator's above all, each tried here; and what lies at the server.
 */
class ZooKeeperDefectsTest {
    private static final Duration GENEROUS = Duration.ofSeconds(30);

    @AutoClose
    private static OneServer server;

    private final List<LockClient> clients = new ArrayList<>();
    private String name;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @BeforeEach
    void pickAName(TestInfo test) {
        name = test.getTestMethod().orElseThrow().getName();
    }

    @AfterEach
    void closeTheClients() {
        clients.forEach(LockClient::close);
    }

    private LockClient client(String options) {
        LockClient client = Locks.open(server.url() + "?closeTimeout=2s&" + options);
        clients.add(client);
        return client;
    }

    private LockClient client() {
        return client("ttl=5s");
    }

    private static ZooKeeper handle(LockClient client) {
        return client.unwrap(ZooKeeper.class);
    }

    private String container() {
        return new Paths("/keyway").container(LockKey.lock(LockName.of(name)));
    }

    private List<String> nodes(ZooKeeper handle) throws Exception {
        try {
            return handle.getChildren(container(), false);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        }
    }

    @Test
    void anInterruptedAcquireLeavesNoNode() throws Exception {
        LockClient holder = client();
        LockClient waiter = client();
        Lease held = holder.lock(name).acquire();
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                waiter.lock(name).acquire();
                ended.complete(null);
            } catch (Throwable e) {
                ended.complete(e);
            }
        });
        thread.start();
        await().until(() -> nodes(handle(holder)).size() == 2);

        thread.interrupt();

        assertThat(ended.get()).isInstanceOf(InterruptedException.class);
        await().until(() -> nodes(handle(holder)).size() == 1);
        held.release();
    }

    @Test
    void aTryThatEndsEmptyLeavesNoNode() throws Exception {
        LockClient holder = client();
        Lease held = holder.lock(name).acquire();

        assertThat(client().lock(name).tryAcquire()).isEmpty();
        assertThat(nodes(handle(holder))).hasSize(1);
        assertThat(client().lock(name).tryAcquire(Duration.ofSeconds(1))).isEmpty();
        await().until(() -> nodes(handle(holder)).size() == 1);
        held.release();
    }

    @Test
    void aReleaseThatNobodyAnswersIsRepeatedUntilSomebodyDoes() throws Exception {
        LockClient client = client("ttl=20s&requestTimeout=300ms");
        Lease lease = client.lock(name).acquire();
        server.stop();
        ReleaseOutcome outcome;
        try {
            outcome = lease.release();
        } finally {
            server.restart();
        }

        assertThat(outcome).isEqualTo(ReleaseOutcome.UNKNOWN);
        LockClient next = client();
        // Long before the session would end.
        try (Lease after = next.lock(name).tryAcquire(Duration.ofSeconds(15)).orElseThrow()) {
            assertThat(after.token()).isGreaterThan(lease.token());
        }
    }

    @Test
    void aTimeLimitIsALimitWithoutAServer() throws Exception {
        LockClient client = client();
        client.lock(name).acquire().release();
        server.stop();
        try {
            long begun = System.nanoTime();

            assertThatThrownBy(() -> client.lock(name).tryAcquire(Duration.ofMillis(500)))
                    .isInstanceOf(LockUnavailableException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Patience.of(Duration.ofSeconds(5)));
        } finally {
            server.restart();
        }
        await().atMost(Patience.of(GENEROUS)).until(() -> {
            Optional<Lease> lease = client.lock(name).tryAcquire(Duration.ofSeconds(5));
            lease.ifPresent(Lease::close);
            return lease.isPresent();
        });
    }

    @Test
    void aNewSessionTakesNothingOfTheOld() throws Exception {
        LockClient client = client("ttl=20s");
        Lease lease = client.lock(name).acquire();
        ZooKeeper old = handle(client);

        server.kill(old);

        LeaseLoss loss = lease.lost().toCompletableFuture().get();
        assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
        assertThat(lease.isHeld()).isFalse();
        try (Lease next = client.lock(name).acquire()) {
            assertThat(next.token()).isGreaterThan(lease.token());
            assertThat(handle(client).getSessionId()).isNotEqualTo(old.getSessionId());
            assertThat(nodes(handle(client)))
                    .singleElement()
                    .asString()
                    .startsWith(Long.toHexString(handle(client).getSessionId()) + "-");
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
            assertThat(next.isHeld()).isTrue();
        }
    }

    @Test
    void aWaiterWhoseSessionEndsWaitsOn() throws Exception {
        Lease held = client().lock(name).acquire();
        LockClient waiter = client("ttl=20s");
        CompletableFuture<Lease> waits = waiter.lock(name).acquireAsync();
        await().until(() -> nodes(handle(clients.get(0))).size() == 2);

        server.kill(handle(waiter));
        held.release();

        waits.get().release();
    }

    @Test
    void tokensRiseThoughTheServersNumbersBeginAnew() throws Exception {
        LockClient client = client();
        Lease first = client.lock(name).acquire();
        first.release();
        handle(client).delete(container(), -1);

        Lease second = client.lock(name).acquire();

        assertThat(nodes(handle(client))).singleElement().asString().endsWith("-0000000000");
        assertThat(second.token()).isGreaterThan(first.token());
        second.release();
    }

    @Test
    void theEndOfOneSessionLosesTheLocksOfThatOneAlone() throws Exception {
        LockClient client = client("ttl=20s&sessions=4");
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            leases.add(client.lock(name + i).acquire());
        }

        server.kill(handle(client));

        await().until(() -> leases.stream().anyMatch(lease -> !lease.isHeld()));
        assertThat(leases.stream().filter(Lease::isHeld).count()).isBetween(8L, 15L);
    }

    @Test
    void theTtlIsWhatTheSessionHas() throws Exception {
        LockClient client = client("sessionTimeout=3s");

        try (Lease lease = client.lock(name)
                .with(LockOptions.none().withTtl(Duration.ofMinutes(1)))
                .acquire()) {
            assertThat(lease.ttl()).isEqualTo(Duration.ofSeconds(3));
            assertThat(handle(client).getSessionTimeout()).isEqualTo(3000);
        }
    }

    @Test
    void whatIsLeftIsDeletedAtTheEnd() throws Exception {
        LockClient client = client();
        client.lock(name).acquire().release();
        assertThat(handle(client).exists(container(), false)).isNotNull();

        client.close();

        ZooKeeper other = handle(opened());
        // On a busy machine close returns before all is answered.
        await().until(() -> other.exists(container(), false) == null);
    }

    private LockClient opened() throws InterruptedException {
        LockClient other = client();
        other.lock(name + "-other").acquire().release();
        return other;
    }

    @Test
    void onlyWhoKnowsThePasswordMayUseWhatIsProtected() throws Exception {
        String base = "/" + name;
        LockClient knows =
                Locks.open("lock:zookeeper://ann:secret@" + server.address() + base + "?ttl=30s&closeTimeout=2s");
        LockClient guesses =
                Locks.open("lock:zookeeper://ann:guess@" + server.address() + base + "?ttl=30s&closeTimeout=2s");
        clients.addAll(List.of(knows, guesses));
        Lease lease = knows.lock(name).acquire();

        assertThatThrownBy(() -> guesses.lock(name).acquire())
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("user and password")
                .hasMessageNotContaining("guess@");
        lease.release();
    }
}
