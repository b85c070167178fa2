// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockException;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A primary and its standbys behind one address, which leads to another of them now and then. */
class StandbyTest {

    private static String through(FaultProxy proxy) {
        return "lock:jdbc:postgresql://127.0.0.1:" + proxy.address().getPort() + "/postgres?user=postgres";
    }

    /** The address leads to a server that cannot be written for a while, and no connection is cut when it leads on. */
    @ParameterizedTest
    @ValueSource(strings = {"table", "session"})
    void aClientLeavesAServerThatTakesNoWrites(String mode) throws Exception {
        try (PostgresServer primary = PostgresServer.own();
                FaultProxy proxy = FaultProxy.to(primary.address())) {
            String url = through(proxy) + "&lock.ttl=8s&lock.mode=" + mode;
            try (LockClient first = Locks.open("lock:" + primary.driverUrl())) {
                first.lock("made").acquire().close();
            }
            try (PostgresServer next = primary.standby(true);
                    PostgresServer other = primary.standby(false);
                    LockClient client = Locks.open(url);
                    LockClient waiter = Locks.open(url)) {
                Lease before = client.lock("held").acquire();
                AtomicBoolean waits = new AtomicBoolean();
                waiter.addListener(event -> waits.compareAndSet(false, event.type() == LockEvent.Type.WAITING));
                CompletableFuture<Lease> waiting = waiter.lock("held").acquireAsync();
                // A client whose first connection leads to a standby fails for good.
                await().atMost(Patience.of(Duration.ofMinutes(1))).untilTrue(waits);
                await().atMost(Patience.of(Duration.ofMinutes(1)))
                        .until(() -> next.number("SELECT count(*) FROM keyway_lock WHERE name = 'held'") == 1
                                || mode.equals("session"));
                primary.kill();
                proxy.redirect(other.address());
                proxy.reset();
                // The pool gathers connections to the standby, each of which says so.
                for (int i = 0; i < 10; i++) {
                    assertThatThrownBy(() -> client.lock("after").tryAcquire())
                            .isInstanceOf(LockUnavailableException.class);
                }
                next.promote();
                proxy.redirect(next.address());

                Lease after = await().atMost(Patience.of(Duration.ofMinutes(1)))
                        .until(() -> attempt(client), Optional::isPresent)
                        .orElseThrow();
                after.close();
                before.close();
                waiting.get(Patience.seconds(60), TimeUnit.SECONDS).close();
            } finally {
                primary.restart();
            }
        }
    }

    private static Optional<Lease> attempt(LockClient client) throws InterruptedException {
        try {
            return client.lock("after").tryAcquire();
        } catch (LockException e) {
            return Optional.empty();
        }
    }

    /** What keeps the list from being told. */
    private static String listing(LockClient client) {
        return catchThrowableOfType(
                        LockUnavailableException.class, () -> client.admin().list("", Optional.empty(), 10))
                .getMessage();
    }

    /** It lacks the last grant: what it shows is no answer. */
    @Test
    void aStandbyThatIsBehindEndsNoLeaseAndShowsNothing() throws Exception {
        try (PostgresServer primary = PostgresServer.own();
                FaultProxy proxy = FaultProxy.to(primary.address())) {
            try (LockClient first = Locks.open("lock:" + primary.driverUrl())) {
                first.lock("made").acquire().close();
            }
            try (PostgresServer behind = primary.standby(false);
                    LockClient client = Locks.open(through(proxy) + "&lock.ttl=20s&lock.requestTimeout=500ms");
                    LockClient other = Locks.open("lock:" + primary.driverUrl())) {
                client.readWriteLock("shared").read().acquire().close();
                Lease lease = client.lock("kept").acquire();
                Lease reader = client.readWriteLock("shared").read().acquire();
                // Another one has written the row since, so that a renewal has to read first.
                Lease beside = other.readWriteLock("shared").read().acquire();
                proxy.redirect(behind.address());
                proxy.reset();
                // Connections that were cut are found out first.
                await().atMost(Patience.of(Duration.ofMinutes(1)))
                        .until(() -> listing(client).contains("standby"));
                // For so long no renewal was answered that would have been.
                Duration some = Duration.ofSeconds(8);
                await().atMost(Patience.of(Duration.ofMinutes(1)))
                        .until(() -> lease.remaining().compareTo(some) < 0
                                && reader.remaining().compareTo(some) < 0);
                assertThat(lease.isHeld()).isTrue();
                assertThat(reader.isHeld()).isTrue();
                proxy.redirect(primary.address());
                await().atMost(Patience.of(Duration.ofMinutes(1)))
                        .until(() -> lease.remaining().compareTo(some) > 0
                                && reader.remaining().compareTo(some) > 0);
                assertThat(lease.lost().toCompletableFuture()).isNotDone();
                assertThat(reader.lost().toCompletableFuture()).isNotDone();
                beside.close();
                reader.close();
                lease.close();
            }
        }
    }
}
