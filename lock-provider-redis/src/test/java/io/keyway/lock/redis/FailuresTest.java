// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.Fault;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a user sees when the server fails, each as docs/providers/redis.md says it. */
class FailuresTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration SHORT = Patience.lease(Duration.ofMillis(800));
    private static final Duration LONG = Duration.ofMinutes(5);

    @AutoClose
    private static RedisServer server;

    private LockClient client;
    private LockClient other;

    @BeforeAll
    static void startTheServer(@TempDir Path directory) throws Exception {
        server = RedisServer.start(directory);
    }

    @BeforeEach
    void open() {
        server.ask("FLUSHALL");
        client = open(server.url(), LONG);
        other = open(server.url(), LONG);
    }

    @AfterEach
    void close() {
        client.close();
        other.close();
    }

    private static LockClient open(String url, Duration ttl) {
        return Locks.open(
                url, ClientOptions.defaults().withDefaults(LockOptions.none().withTtl(ttl)));
    }

    private static Lease acquire(LockClient by, String name) throws Exception {
        return by.lock(name).acquireAsync().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static LeaseLoss loss(Lease lease) throws Exception {
        return lease.lost().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void aServerThatForgotTheScriptsIsTaughtThemAgain() throws Exception {
        Lease lease = acquire(client, "a");
        server.ask("SCRIPT", "FLUSH");
        assertThat(other.lock("a").tryAcquire()).isEmpty();
        server.ask("SCRIPT", "FLUSH");
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void renewalsTeachTheScriptsToo() throws Exception {
        try (LockClient brief = open(server.url(), SHORT)) {
            Lease lease = acquire(brief, "a");
            server.ask("SCRIPT", "FLUSH");
            assertThat(heldFor(lease, SHORT.multipliedBy(2))).isTrue();
        }
    }

    @Test
    void aRestartWithTheDataEndsNothing() throws Exception {
        Lease lease = acquire(client, "a");
        server.kill();
        server.restart();
        await().atMost(Patience.of(PATIENCE))
                .ignoreExceptions()
                .until(() -> other.lock("a").tryAcquire(), Optional::isEmpty);
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(acquire(other, "a").token()).isGreaterThan(lease.token());
    }

    @Test
    void aRestartWithoutTheDataIsToldAsLossAndTokensRiseAllTheSame() throws Exception {
        Lease lease = acquire(client, "a");
        server.kill();
        server.restartEmpty();
        assertThat(loss(lease).detail())
                .as("long before the next renewal would be due")
                .contains("no longer holds");
        assertThat(acquire(other, "a").token()).isGreaterThan(lease.token());
    }

    @Test
    void aServerWithoutMemoryGrantsNothingAndLetsGo() throws Exception {
        try (LockClient brief = open(server.url(), SHORT)) {
            Lease renewed = acquire(brief, "renewed");
            Lease lease = acquire(client, "a");
            server.ask("CONFIG", "SET", "maxmemory", "1");
            try {
                LockException refused = catchThrowableOfType(
                        LockUnavailableException.class, () -> other.lock("b").tryAcquire());
                assertThat(refused).hasMessageContaining("OOM");
                assertThat(refused.mayHold()).isFalse();
                assertThat(refused.retryable()).isTrue();
                assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
                assertThat(heldFor(renewed, SHORT.multipliedBy(2))).isTrue();
            } finally {
                server.ask("CONFIG", "SET", "maxmemory", "0");
            }
            assertThat(other.lock("b").tryAcquire()).isPresent();
        }
    }

    @Test
    void aReplicaGrantsNothing() throws Exception {
        server.ask("REPLICAOF", "127.0.0.1", "1");
        try {
            LockException refused = catchThrowableOfType(
                    LockUnavailableException.class, () -> other.lock("b").tryAcquire());
            assertThat(refused).hasMessageContaining("READONLY");
            assertThat(refused.mayHold()).isFalse();
        } finally {
            server.ask("REPLICAOF", "NO", "ONE");
        }
        assertThat(other.lock("b").tryAcquire()).isPresent();
    }

    @Test
    void whoeverHoldsStopsWhenItsServerStandsStillAndNobodyElseBegins() throws Exception {
        try (LockClient brief = open(server.url(), SHORT)) {
            Lease lease = acquire(brief, "a");
            server.pause();
            CompletableFuture<Lease> next;
            try {
                next = other.lock("a").acquireAsync();
                assertThat(loss(lease).cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
                assertThat(next).isNotDone();
            } finally {
                server.resume();
            }
            assertThat(next.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).token()).isGreaterThan(lease.token());
        }
    }

    @Test
    void aGrantWhoseAnswerIsLostIsGivenBack() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
                LockClient far =
                        open("lock:redis://127.0.0.1:" + proxy.address().getPort() + "/0?requestTimeout=500ms", LONG)) {
            acquire(far, "warm").release();
            proxy.set(Direction.TO_CLIENT, Fault.DISCARDING);
            assertThatThrownBy(() -> far.lock("a").tryAcquire())
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("No answer")
                    .hasMessageContaining("withdrawn");
            assertThat(other.lock("a").tryAcquire()).as("it was granted").isEmpty();
            proxy.reset();
            proxy.heal();
            // Long before its ttl is over.
            assertThat(acquire(other, "a").isHeld()).isTrue();
        }
    }

    @Test
    void aReleaseWhoseAnswerIsLostIsRepeated() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
                LockClient far =
                        open("lock:redis://127.0.0.1:" + proxy.address().getPort() + "/0?requestTimeout=500ms", LONG)) {
            Lease lease = acquire(far, "a");
            proxy.blackHole();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
            assertThat(other.lock("a").tryAcquire()).isEmpty();
            proxy.heal();
            assertThat(acquire(other, "a").token()).isGreaterThan(lease.token());
        }
    }

    @Test
    void brokenConnectionsEndNoLeaseAndLeaveNoWaiterAsleep() throws Exception {
        List<LockEvent.Type> events = new CopyOnWriteArrayList<>();
        client.addListener(event -> events.add(event.type()));
        Lease lease = acquire(client, "a");
        CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
        await().atMost(Patience.of(PATIENCE)).until(() -> waiters("a"), count -> count == 1);
        server.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        server.ask("CLIENT", "KILL", "TYPE", "pubsub");
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(waiter.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).isHeld()).isTrue();
        assertThat(events).doesNotContain(LockEvent.Type.LOST);
    }

    private int waiters(String name) throws InterruptedException {
        return client.admin()
                .show(LockKey.lock(LockName.of(name)))
                .map(status -> status.waiters().size())
                .orElse(0);
    }

    /** Whether it is held at each look, for so long: it has been renewed then. */
    private static boolean heldFor(Lease lease, Duration time) {
        await().pollDelay(Duration.ZERO)
                .atMost(time.plus(Patience.of(PATIENCE)))
                .during(time)
                .until(lease::isHeld);
        return lease.isHeld();
    }
}
