// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.tck.process.Patience;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads of users ask PostgreSQL themselves, and may be interrupted at any time. */
class InterruptsTest {
    private PostgresServer server;
    private String url;

    @BeforeEach
    void start() throws Exception {
        server = PostgresServer.shared();
        url = server.url("interrupts");
    }

    private static Thread interruptible(AtomicInteger ended, Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (InterruptedException e) {
                ended.incrementAndGet();
            }
        });
        thread.start();
        return thread;
    }

    private interface Task {
        void run() throws InterruptedException;
    }

    private static boolean asks(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().startsWith("org.postgresql."));
    }

    @ParameterizedTest
    @ValueSource(strings = {"table", "session"})
    void anInterruptEndsAnAttemptAtADatabaseThatHangs(String mode) throws Exception {
        AtomicInteger ended = new AtomicInteger();
        try (LockClient client = Locks.open(url + "&lock.mode=" + mode + "&lock.requestTimeout=2m&lock.ttl=10m")) {
            client.lock("before").acquire().close();
            server.pause();
            try {
                Thread thread = interruptible(ended, () -> client.lock("hangs").acquire());
                await().until(() -> asks(thread));
                thread.interrupt();
                thread.join(Patience.of(Duration.ofMinutes(1)).toMillis());
                assertThat(thread.isAlive()).isFalse();
                assertThat(ended).hasValue(1);
            } finally {
                server.resume();
            }
            assertThat(client.lock("hangs").tryAcquire(Duration.ofMinutes(1))).hasValueSatisfying(Lease::close);
        }
    }

    private static boolean isLent(Thread thread) {
        return asks(thread)
                && Arrays.stream(thread.getStackTrace())
                        .anyMatch(frame -> frame.getMethodName().equals("lend"));
    }

    private static boolean isParked(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    /**
     * A thread is not lent while no session is free that could wait, as when that has not heard yet that its last wait
     * is over, nor when it comes so late that a thread of the client has taken its place.
     */
    private static void awaitThatWaits(Thread thread) {
        await().pollInterval(Duration.ofMillis(1)).until(() -> isLent(thread) || isParked(thread));
    }

    /** In session mode a thread that waits is the one that waits at the server. */
    @Test
    void anInterruptEndsAWaitAtTheServer() throws Exception {
        AtomicInteger ended = new AtomicInteger();
        try (LockClient other = Locks.open(url + "&lock.mode=session&lock.ttl=10m");
                LockClient client = Locks.open(url + "&lock.mode=session&lock.ttl=10m");
                Lease kept = client.lock("kept").acquire()) {
            int lent = 0;
            int rounds = 0;
            for (int i = 0; i < 20 || lent == 0; i++) {
                String name = "wanted" + i;
                other.lock(name).acquire();
                Thread thread = interruptible(ended, () -> client.lock(name).acquire());
                awaitThatWaits(thread);
                rounds++;
                lent += isLent(thread) ? 1 : 0;
                thread.interrupt();
                thread.join(Patience.of(Duration.ofMinutes(1)).toMillis());
                assertThat(thread.isAlive()).isFalse();
            }
            assertThat(ended).hasValue(rounds);
            assertThat(kept.isHeld()).isTrue();
            other.close();
            assertThat(client.lock("wanted0").tryAcquire(Duration.ofMinutes(1))).hasValueSatisfying(Lease::close);
        }
    }

    @Test
    void aThreadThatWaitsAtTheServerIsBackAtItsLimitAndTheNextOneWaitsOn() throws Exception {
        AtomicInteger ended = new AtomicInteger();
        AtomicInteger empty = new AtomicInteger();
        try (LockClient other = Locks.open(url + "&lock.mode=session&lock.ttl=10m");
                LockClient client = Locks.open(url + "&lock.mode=session&lock.ttl=10m&lock.requestTimeout="
                        + Patience.leaseSeconds(1) + "s")) {
            client.lock("first").acquire().close();
            Lease held = other.lock("limited").acquire();
            Thread first = interruptible(
                    ended,
                    () -> empty.addAndGet(
                            client.lock("limited")
                                            .tryAcquire(Patience.lease(Duration.ofSeconds(3)))
                                            .isEmpty()
                                    ? 1
                                    : 0));
            awaitThatWaits(first);
            AtomicInteger got = new AtomicInteger();
            Thread second = interruptible(ended, () -> {
                client.lock("limited").acquire().close();
                got.incrementAndGet();
            });
            first.join(Patience.of(Duration.ofMinutes(1)).toMillis());
            assertThat(first.isAlive()).isFalse();
            assertThat(empty).hasValue(1);
            held.close();
            second.join(Patience.of(Duration.ofMinutes(1)).toMillis());
            assertThat(got).hasValue(1);
        }
    }

    @Test
    void aClientThatIsClosedSendsItsThreadsAwayThatWaitAtTheServer() throws Exception {
        int rounds = 0;
        int lent = 0;
        AtomicInteger failed = new AtomicInteger();
        try (LockClient other = Locks.open(url + "&lock.mode=session&lock.ttl=10m");
                Lease held = other.lock("closed").acquire()) {
            while (rounds < 5 || lent == 0) {
                rounds++;
                LockClient client = Locks.open(url + "&lock.mode=session&lock.ttl=10m");
                client.lock("first").acquire().close();
                Thread thread = interruptible(new AtomicInteger(), () -> {
                    try {
                        client.lock("closed").acquire();
                    } catch (LockException e) {
                        failed.incrementAndGet();
                    }
                });
                awaitThatWaits(thread);
                lent += isLent(thread) ? 1 : 0;
                client.close();
                thread.join(Patience.of(Duration.ofMinutes(1)).toMillis());
            }
            assertThat(failed).hasValue(rounds);
            assertThat(held.isHeld()).isTrue();
        }
    }

    /** A session has the locks of all threads. */
    @Test
    void anInterruptCostsNoSession() throws Exception {
        AtomicInteger ended = new AtomicInteger();
        try (LockClient client = Locks.open(url + "&lock.mode=session&lock.ttl=10m");
                Lease kept = client.lock("kept").acquire()) {
            for (int i = 0; i < 50; i++) {
                Thread thread = interruptible(ended, () -> {
                    while (true) {
                        client.lock("wanted").acquire().close();
                        if (Thread.interrupted()) {
                            throw new InterruptedException();
                        }
                    }
                });
                await().pollInterval(Duration.ofMillis(1)).until(() -> asks(thread));
                thread.interrupt();
                thread.join(Patience.of(Duration.ofMinutes(1)).toMillis());
                assertThat(thread.isAlive()).isFalse();
            }
            assertThat(ended).hasValue(50);
            assertThat(kept.isHeld()).isTrue();
            assertThat(client.lock("wanted").tryAcquire(Duration.ofMinutes(1))).hasValueSatisfying(Lease::close);
            assertThat(kept.lost().toCompletableFuture()).isNotDone();
        }
    }

    /** Without a network timeout, which begins anew with each piece of an answer. */
    @Test
    void aStatementWhoseTimeIsOverEnds() throws Exception {
        try (Connection connection = DriverManager.getConnection(url.substring("lock:".length()));
                Statement statement = connection.createStatement()) {
            statement.execute("SET client_connection_check_interval = 100"); // or the server sleeps on
            Deadline deadline = Deadline.after(Duration.ofMillis(50));
            assertThatThrownBy(() -> new Watched()
                            .on(connection, deadline, () -> {}, it -> statement.execute("SELECT pg_sleep(600)")))
                    .isInstanceOf(SQLException.class);
            assertThat(connection.isClosed()).isTrue();
        }
    }
}
