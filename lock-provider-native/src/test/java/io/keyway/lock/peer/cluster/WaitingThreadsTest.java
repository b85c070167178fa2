// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Threads of one client that wait, each of which may be the one that reads its sockets: whatever becomes of one, the
 * others get their answers.
 */
class WaitingThreadsTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final List<LockClient> clients = new ArrayList<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private DisklessMember member;

    @BeforeEach
    void start() throws Exception {
        member = DisklessMember.alone();
    }

    @AfterEach
    void end() {
        clients.forEach(LockClient::close);
        member.close();
    }

    private LockClient open(String options) {
        LockClient client = Locks.open(member.url(options));
        clients.add(client);
        return client;
    }

    private interface Work {
        void run() throws Exception;
    }

    private Thread user(Work work) {
        Thread user = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (Throwable e) {
                        failures.add(e);
                    }
                },
                "user");
        user.setDaemon(true);
        user.start();
        return user;
    }

    private void join(List<Thread> users) throws InterruptedException {
        for (Thread user : users) {
            user.join(Patience.of(LONG).toMillis());
            assertThat(user.isAlive())
                    .as("%s waits: %s; failed: %s", user, List.of(user.getStackTrace()), failures)
                    .isFalse();
        }
        assertThat(failures).isEmpty();
    }

    /** Waits for a moment for the lock that another holds. */
    private static void timesOut(LockClient client) throws InterruptedException {
        try {
            assertThat(client.lock("one").tryAcquire(Duration.ofMillis(300))).isEmpty();
        } catch (LockUnavailableException e) {
            assertThat(e).as("a busy machine").hasMessageContaining("No answer about lock one within 300ms");
        }
    }

    @Test
    void interruptsCloseNoConnectionAndLoseNoAnswerOfOthers() throws Exception {
        LockClient client = open("?cache=off");
        AtomicInteger broken = new AtomicInteger();
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.DISCONNECTED) {
                broken.incrementAndGet();
            }
        });
        client.lock("first").acquire().release();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger interrupted = new AtomicInteger();
        List<Thread> victims = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            String name = "victim" + i % 2;
            victims.add(user(() -> {
                while (!stop.get()) {
                    try (Lease lease = client.lock(name).acquire()) {
                        lease.ensureHeld();
                    } catch (InterruptedException e) {
                        interrupted.incrementAndGet();
                    }
                }
            }));
        }
        List<Thread> others = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            String name = "other" + i;
            others.add(user(() -> {
                long token = 0;
                while (interrupted.get() < 2000) {
                    try (Lease lease = client.lock(name).acquire()) {
                        assertThat(lease.token()).isGreaterThan(token);
                        token = lease.token();
                    }
                }
            }));
        }
        while (interrupted.get() < 2000 && failures.isEmpty()) {
            victims.get(ThreadLocalRandom.current().nextInt(victims.size())).interrupt();
            Thread.onSpinWait();
        }
        join(others);
        stop.set(true);
        join(victims);
        assertThat(broken).hasValue(0);
    }

    @Test
    void whoTimesOutWhileItReadsLeavesTheOthersToReadForThemselves() throws Exception {
        LockClient holder = open("");
        LockClient client = open("");
        Lease one = holder.lock("one").acquire();
        Lease two = holder.lock("two").acquire();
        client.lock("three").acquire().release(); // which connects: the first answer may take its time
        List<Thread> users = new ArrayList<>();
        users.add(user(() -> {
            timesOut(client);
            two.release();
        }));
        users.add(user(() -> client.lock("two").acquire().release()));
        join(users);
        one.release();
    }

    @Test
    void closingAClientEndsAllThatWait() throws Exception {
        LockClient holder = open("");
        holder.lock("one").acquire();
        LockClient client = open("");
        AtomicInteger told = new AtomicInteger();
        List<Thread> users = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            users.add(user(() -> {
                try {
                    client.lock("one").acquire();
                    throw new AssertionError("it is held by another");
                } catch (ClientClosedException e) {
                    told.incrementAndGet();
                }
            }));
        }
        holder.lock("two").acquire().release();
        timesOut(client);
        client.close();
        join(users);
        assertThat(told).hasValue(4);
    }

    @Test
    void aRecallIsHeardWhileNobodyWaits() throws Exception {
        LockClient first = open("");
        LockClient second = open("");
        for (int i = 0; i < 20; i++) {
            first.lock("one").acquire().release(); // and is kept
            Optional<Lease> taken = second.lock("one").tryAcquire(Duration.ofSeconds(20));
            assertThat(taken).isPresent();
            taken.orElseThrow().release();
        }
    }

    @Test
    void aCallbackMayAskAndWait() throws Exception {
        LockClient client = open("?cache=off");
        List<CompletableFuture<Long>> all = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            String name = "job" + i;
            all.add(client.lock(name).acquireAsync().thenApply(outer -> {
                try (Lease inner = client.lock(name + "/inner").acquire()) {
                    return inner.token();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                } finally {
                    outer.release();
                }
            }));
        }
        for (CompletableFuture<Long> each : all) {
            assertThat(each.get(Patience.seconds(30), TimeUnit.SECONDS)).isPositive();
        }
    }

    @Test
    void everyRequestIsAnsweredWhateverTheOthersDo() throws Exception {
        LockClient one = open("?cache=off");
        LockClient two = open("");
        int rounds = 150;
        List<Thread> users = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 8; i++) {
            LockClient client = i % 2 == 0 ? one : two;
            Random random = new Random(i);
            users.add(user(() -> {
                for (int round = 0; round < rounds; round++) {
                    ask(client, "n" + random.nextInt(3), random.nextInt(4));
                    List<Thread> all = List.copyOf(users);
                    if (!all.isEmpty()) { // wherever that one is just now
                        all.get(random.nextInt(all.size())).interrupt();
                    }
                }
            }));
        }
        join(users);
        for (String name : List.of("n0", "n1", "n2")) {
            Optional<Lease> free = one.lock(name).tryAcquire(LONG);
            assertThat(free).as(name).isPresent();
            free.orElseThrow().release();
        }
    }

    private static void ask(LockClient client, String name, int how) throws Exception {
        try {
            switch (how) {
                case 0 -> client.lock(name).acquire().close();
                case 1 -> client.lock(name).tryAcquire(Duration.ofMillis(2)).ifPresent(Lease::close);
                case 2 -> {
                    CompletableFuture<Lease> asked = client.lock(name).acquireAsync();
                    try {
                        asked.get().close();
                    } catch (InterruptedException e) {
                        CompletionStage<Lease> late = asked;
                        late.thenAccept(Lease::close);
                        throw e;
                    }
                }
                default -> client.lock(name).tryAcquire().ifPresent(lease -> lease.releaseAsync());
            }
        } catch (InterruptedException | LockUnavailableException e) {
            // The latter if no answer came within two milliseconds. What counts is that it ends.
        }
    }
}
