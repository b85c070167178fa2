// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Interrupts, cancels, closes and crowds, through the API, on real time in one JVM and over real sockets: nothing is
 * lost, nothing hangs, and the lock is free afterwards.
 */
class NativeApiTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final LockKey KEY = LockKey.lock(LockName.of("x"));
    private static final AtomicInteger WORLDS = new AtomicInteger();

    @TempDir
    Path directory;

    private final List<LockClient> clients = new ArrayList<>();
    private String url = "";

    private record Running<T>(Thread thread, FutureTask<T> result) {
        T get() throws Exception {
            return result.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private static <T> Running<T> inThread(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
        return new Running<>(thread, task);
    }

    private LockClient open(String provider, String name) {
        if (url.isEmpty()) {
            url = "lock:native:"
                    + (provider.equals("mem")
                            ? "mem://api" + WORLDS.incrementAndGet()
                            : "local://" + directory.resolve("locks"));
        }
        LockClient client = Locks.open(url, ClientOptions.defaults().withName(name));
        clients.add(client);
        return client;
    }

    @AfterEach
    void close() {
        clients.forEach(LockClient::close);
    }

    /** Another client gets the lock without a wait worth the name, and nobody waits. */
    private void assertFree(String provider) throws Exception {
        LockClient other = open(provider, "afterwards");
        Optional<Lease> lease = other.lock("x").tryAcquire(Patience.of(PATIENCE));
        assertThat(lease).isPresent();
        LockStatus status = other.admin().show(KEY).orElseThrow();
        assertThat(status.holders()).extracting(LockStatus.Holder::client).containsExactly("afterwards");
        assertThat(status.waiters()).isEmpty();
        assertThat(lease.get().release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mem", "local"})
    void anInterruptBeforeTheCallAsksForNothing(String provider) throws Exception {
        LockClient client = open(provider, "a");
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> client.lock("x").acquire()).isInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isFalse();
        assertFree(provider);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mem", "local"})
    void anInterruptWhileQueuedLeavesTheQueue(String provider) throws Exception {
        LockClient a = open(provider, "a");
        LockClient b = open(provider, "b");
        Lease held = a.lock("x").acquire();
        Running<Lease> local = inThread(() -> a.lock("x").acquire());
        Running<Lease> remote = inThread(() -> b.lock("x").acquire());
        await().atMost(Patience.of(PATIENCE)).until(() -> waiters(a) == 2);
        local.thread().interrupt();
        remote.thread().interrupt();
        assertThatThrownBy(local::get).hasCauseInstanceOf(InterruptedException.class);
        assertThatThrownBy(remote::get).hasCauseInstanceOf(InterruptedException.class);
        await().atMost(Patience.of(PATIENCE)).until(() -> waiters(a) == 0);
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertFree(provider);
    }

    private static int waiters(LockClient client) throws InterruptedException {
        return client.admin().show(KEY).map(status -> status.waiters().size()).orElse(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mem", "local"})
    void interruptsThatRaceWithGrantsLoseNothing(String provider) throws Exception {
        LockClient a = open(provider, "a");
        LockClient b = open(provider, "b");
        int granted = 0;
        int rounds = provider.equals("mem") ? 200 : 60;
        for (int i = 0; i < rounds; i++) {
            Lease held = a.lock("x").acquire();
            LockClient waiter = i % 2 == 0 ? a : b;
            Running<Boolean> waiting = inThread(() -> {
                try (Lease lease = waiter.lock("x").acquire()) {
                    return lease.isHeld();
                } catch (InterruptedException e) {
                    return false;
                }
            });
            CyclicBarrier start = new CyclicBarrier(2);
            Running<Integer> interrupting = inThread(() -> {
                int place = start.await();
                waiting.thread().interrupt();
                return place;
            });
            start.await();
            held.close();
            interrupting.get();
            granted += waiting.get() ? 1 : 0;
        }
        assertThat(granted).isBetween(0, rounds);
        assertFree(provider);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mem", "local"})
    void anInterruptBeforeTheReleaseIsKeptAndTheLockIsReleased(String provider) throws Exception {
        LockClient a = open(provider, "a");
        LockClient b = open(provider, "b");
        Lease held = a.lock("x").acquire();
        CompletableFuture<Lease> next = b.lock("x").acquireAsync();
        await().atMost(Patience.of(PATIENCE)).until(() -> waiters(a) == 1);
        Running<Boolean> releasing = inThread(() -> {
            Thread.currentThread().interrupt();
            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
            return Thread.interrupted();
        });
        assertThat(releasing.get()).isTrue();
        next.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
        assertFree(provider);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mem", "local"})
    void aClientThatClosesUnderAHundredWaitingThreadsEndsThemAll(String provider) throws Exception {
        LockClient a = open(provider, "a");
        LockClient b = open(provider, "b");
        Lease held = a.lock("x").acquire();
        List<Running<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiting.add(inThread(() -> b.lock("x").acquire()));
        }
        await().atMost(Patience.of(PATIENCE)).until(() -> waiters(a) == 100);
        b.close();
        for (Running<Lease> each : waiting) {
            assertThatThrownBy(each::get).hasCauseInstanceOf(ClientClosedException.class);
        }
        assertThat(held.isHeld()).isTrue();
        await().atMost(Patience.of(PATIENCE)).until(() -> waiters(a) == 0);
        held.close();
        assertFree(provider);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mem", "local"})
    void theHoldersOwnClientClosesUnderAHundredWaitingThreads(String provider) throws Exception {
        LockClient a = open(provider, "a");
        LockClient b = open(provider, "b");
        Lease held = a.lock("x").acquire();
        List<Running<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiting.add(inThread(() -> a.lock("x").acquire()));
        }
        await().atMost(Patience.of(PATIENCE)).until(() -> waiters(b) == 100);
        CompletableFuture<Lease> other = b.lock("x").acquireAsync();
        a.close();
        for (Running<Lease> each : waiting) {
            assertThatThrownBy(each::get).hasCauseInstanceOf(ClientClosedException.class);
        }
        assertThat(held.state()).isEqualTo(Lease.State.LOST);
        other.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
        assertFree(provider);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mem", "local"})
    void cancelledAndTimedOutFuturesWithdraw(String provider) throws Exception {
        LockClient a = open(provider, "a");
        LockClient b = open(provider, "b");
        Lease held = a.lock("x").acquire();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            waiting.add((i % 2 == 0 ? a : b).lock("x").acquireAsync());
        }
        CompletableFuture<Lease> late = b.lock("x").acquireAsync().orTimeout(1, TimeUnit.MILLISECONDS);
        assertThatThrownBy(() -> late.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class);
        await().atMost(Patience.of(PATIENCE)).until(() -> waiters(a) == 20);
        waiting.forEach(each -> assertThat(each.cancel(true)).isTrue());
        await().atMost(Patience.of(PATIENCE)).until(() -> waiters(a) == 0);
        held.close();
        assertFree(provider);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mem", "local"})
    void cancelsThatRaceWithGrantsLoseNothing(String provider) throws Exception {
        LockClient a = open(provider, "a");
        LockClient b = open(provider, "b");
        int rounds = provider.equals("mem") ? 200 : 60;
        for (int i = 0; i < rounds; i++) {
            Lease held = a.lock("x").acquire();
            CompletableFuture<Lease> waiting = (i % 2 == 0 ? a : b).lock("x").acquireAsync();
            CyclicBarrier start = new CyclicBarrier(2);
            Running<Boolean> cancelling = inThread(() -> {
                start.await();
                return waiting.cancel(false);
            });
            start.await();
            held.close();
            if (!cancelling.get()) {
                waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
            }
        }
        assertFree(provider);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mem", "local"})
    void aGrantThatNobodyTakesIsReleased(String provider) throws Exception {
        open(provider, "first");
        List<Runnable> kept = new CopyOnWriteArrayList<>();
        LockClient b = Locks.open(url, ClientOptions.defaults().withName("b").withEventExecutor(kept::add));
        clients.add(b);
        CompletableFuture<Lease> future = b.lock("x").acquireAsync();
        await().atMost(Patience.of(PATIENCE)).until(() -> !kept.isEmpty());
        assertThat(future).as("granted, not delivered").isNotDone();
        assertThat(future.cancel(false)).isTrue();
        List.copyOf(kept).forEach(Runnable::run);
        assertFree(provider);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mem", "local"})
    void anAttemptThatDoesNotWaitGetsALockThatAnotherKeepsIdle(String provider) throws Exception {
        LockClient a = open(provider, "a");
        LockClient b = open(provider, "b");
        long last = 0;
        for (int i = 0; i < 20; i++) {
            Optional<Lease> lease = (i % 2 == 0 ? a : b).lock("x").tryAcquire(Duration.ZERO);
            assertThat(lease).isPresent();
            assertThat(lease.get().token()).isGreaterThan(last);
            last = lease.get().token();
            lease.get().close();
        }
        assertFree(provider);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = {"mem", "local"})
    void tenThousandWaitersOfTwoClientsAreServedAndSeen(String provider) throws Exception {
        LockClient a = open(provider, "a");
        LockClient b = open(provider, "b");
        Lease held = a.lock("x").acquire();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<CompletableFuture<Long>> served = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            served.add((i < 5_000 ? a : b).lock("x").acquireAsync().thenApply(lease -> {
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                inside.decrementAndGet();
                lease.close();
                return lease.token();
            }));
        }
        await().atMost(Patience.of(PATIENCE)).until(() -> waiters(b) == 10_000);
        held.close();
        List<Long> tokens = new ArrayList<>();
        for (CompletableFuture<Long> each : served) {
            tokens.add(each.get(Patience.seconds(60), TimeUnit.SECONDS));
        }
        assertThat(tokens).doesNotHaveDuplicates();
        assertThat(tokens.subList(0, 5_000))
                .as("in the order in which one client asked")
                .isSorted();
        assertThat(tokens.subList(5_000, 10_000))
                .as("in the order in which the other asked")
                .isSorted();
        assertThat(most).hasValue(1);
        assertFree(provider);
    }
}
