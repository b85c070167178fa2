// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.reference.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Rule R18: time-out, interrupt and cancel against a grant; whoever gets no lease leaves nothing behind. */
class RacesTest extends ReferenceClients {

    private static final String REAL = "lock:reference://races?closeTimeout=4s";

    @Test
    void anInterruptBeforeTheCallSendsNothing() {
        LockClient client = open("a");
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> client.lock("x").acquire()).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(store(client).attempts()).isZero();
    }

    @Test
    void anInterruptWhileQueuedLeavesTheQueue() throws Exception {
        LockClient a = open("a");
        Lease held = a.lock("x").acquire();
        Running<Lease> waiting = inThread(() -> open("b").lock("x").acquire());
        awaitWaiters(a, "x", 1);
        waiting.thread().interrupt();
        assertThatThrownBy(waiting::get).hasCauseInstanceOf(InterruptedException.class);
        assertThat(waiters(a, "x")).isZero();
        held.close();
        assertEmpty(a);
    }

    @Test
    void anInterruptWhileTheAttemptIsUnderWayCleansUpWhatItBrings() throws Exception {
        LockClient client = open(REAL, ClientOptions.defaults().withName("real"));
        faults(client).hang(Verb.ATTEMPT);
        Running<Lease> waiting = inThread(() -> client.lock("x").acquire());
        await().atMost(PATIENCE).until(() -> faults(client).isHanging(Verb.ATTEMPT));
        waiting.thread().interrupt();
        assertThatThrownBy(waiting::get).hasCauseInstanceOf(InterruptedException.class);
        faults(client).resume(Verb.ATTEMPT);
        await().atMost(PATIENCE)
                .until(() -> store(client).attempts() == 1 && store(client).isEmpty());
    }

    @Test
    void anInterruptDuringAReleaseIsKept() throws Exception {
        LockClient client = open(REAL, ClientOptions.defaults().withName("real"));
        Lease lease = client.lock("x").acquire();
        faults(client).hang(Verb.RELEASE);
        Running<Boolean> releasing = inThread(() -> {
            lease.close();
            return Thread.currentThread().isInterrupted();
        });
        await().atMost(PATIENCE).until(() -> faults(client).isHanging(Verb.RELEASE));
        releasing.thread().interrupt();
        faults(client).resume(Verb.RELEASE);
        assertThat(releasing.get()).isTrue();
        assertEmpty(client);
    }

    @Test
    void interruptsRacingWithGrantsLeaveNothing() throws Exception {
        LockClient client = open(REAL, ClientOptions.defaults().withName("real"));
        int granted = 0;
        for (int i = 0; i < 300; i++) {
            Lease held = client.lock("x").acquire();
            Running<Boolean> waiting = inThread(() -> {
                try (Lease lease = client.lock("x").acquire()) {
                    return lease.isHeld();
                } catch (InterruptedException e) {
                    return false;
                }
            });
            CyclicBarrier start = new CyclicBarrier(2);
            Running<Boolean> interrupting = inThread(() -> {
                start.await();
                waiting.thread().interrupt();
                return true;
            });
            start.await();
            held.close();
            interrupting.get();
            granted += waiting.get() ? 1 : 0;
        }
        assertThat(granted).isBetween(0, 300);
        await().atMost(PATIENCE).until(() -> store(client).isEmpty());
    }

    @Test
    void timeOutsRacingWithGrantsLeaveNothing() throws Exception {
        LockClient client = open(REAL, ClientOptions.defaults().withName("real"));
        int granted = 0;
        int empty = 0;
        for (int i = 0; i < 300; i++) {
            Lease held = client.lock("x").acquire();
            var waiting = client.lock("x").tryAcquireAsync(Duration.ofNanos(200_000 + i * 1_000L));
            held.close();
            try {
                Optional<Lease> lease = waiting.get(2, TimeUnit.MINUTES);
                granted += lease.isPresent() ? 1 : 0;
                empty += lease.isPresent() ? 0 : 1;
                lease.ifPresent(Lease::close);
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(LockUnavailableException.class);
                empty++;
            }
        }
        assertThat(granted + empty).isEqualTo(300);
        await().atMost(PATIENCE).until(() -> store(client).isEmpty());
    }

    @Test
    void aCancelledFutureWithdraws() throws Exception {
        LockClient a = open("a");
        Lease held = a.lock("x").acquire();
        CompletableFuture<Lease> waiting = open("b").lock("x").acquireAsync();
        assertThat(waiters(a, "x")).isEqualTo(1);
        assertThat(waiting.cancel(true)).isTrue();
        assertThat(waiters(a, "x")).isZero();
        held.close();
        assertEmpty(a);
    }

    @Test
    void aFutureThatTimesOutWithdraws() throws Exception {
        LockClient a = open("a");
        Lease held = a.lock("x").acquire();
        CompletableFuture<Lease> waiting = open("b").lock("x").acquireAsync().orTimeout(1, TimeUnit.MILLISECONDS);
        assertThatThrownBy(() -> waiting.get(2, TimeUnit.MINUTES)).isInstanceOf(ExecutionException.class);
        await().atMost(PATIENCE).until(() -> waiters(a, "x") == 0);
        held.close();
        assertEmpty(a);
    }

    @Test
    void aGrantThatNobodyTakesIsReleased() throws Exception {
        List<Runnable> kept = new ArrayList<>();
        LockClient b = open(manual, ClientOptions.defaults().withName("b").withEventExecutor(kept::add));
        CompletableFuture<Lease> future = b.lock("x").acquireAsync();
        assertThat(store(b).isEmpty()).as("granted, not delivered").isFalse();
        assertThat(future.cancel(false)).isTrue();
        List.copyOf(kept).forEach(Runnable::run);
        assertEmpty(b);
    }

    @Test
    void cancelsRacingWithGrantsLeaveNothing() throws Exception {
        LockClient client = open(REAL, ClientOptions.defaults().withName("real"));
        for (int i = 0; i < 300; i++) {
            Lease held = client.lock("x").acquire();
            CompletableFuture<Lease> waiting = client.lock("x").acquireAsync();
            CyclicBarrier start = new CyclicBarrier(2);
            Running<Boolean> cancelling = inThread(() -> {
                start.await();
                return waiting.cancel(false);
            });
            start.await();
            held.close();
            if (!cancelling.get()) {
                waiting.join().close();
            }
        }
        await().atMost(PATIENCE).until(() -> store(client).isEmpty());
    }

    @Test
    void noAnswerAtAllIsNotAnEmptyResult() throws Exception {
        LockClient client = open("a");
        faults(client).cut(true);
        Running<Optional<Lease>> once = inThread(() -> client.lock("x").tryAcquire());
        await().atMost(PATIENCE).until(() -> once.thread().getState() == Thread.State.WAITING);
        time(client).advance(Duration.ofSeconds(2));
        assertThatThrownBy(once::get)
                .hasCauseInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("2s")
                .hasMessageContaining("connection reset");
        faults(client).cut(false);
        faults(client).failBefore(Verb.ATTEMPT, 1);
        assertThatThrownBy(() -> client.lock("x").tryAcquire())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("connection refused");
        time(client).advance(Duration.ofSeconds(30));
        assertEmpty(client);
    }

    @Test
    void acquireRidesOutAnOutage() throws Exception {
        LockClient client = open("a");
        faults(client).cut(true);
        CompletableFuture<Lease> waiting = client.lock("x").acquireAsync();
        time(client).advance(Duration.ofMinutes(10));
        assertThat(waiting).isNotDone();
        faults(client).cut(false);
        time(client).advance(Duration.ofSeconds(2));
        waiting.get(2, TimeUnit.MINUTES).close();
        assertEmpty(client);
    }
}
