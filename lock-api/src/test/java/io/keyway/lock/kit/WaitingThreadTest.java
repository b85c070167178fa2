// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.reference.Verb;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A thread that waits for its lock or its release sees for itself that its time is up: the façade arms no timer. */
class WaitingThreadTest extends ReferenceClients {

    private static final LockUrl URL = LockUrl.parse("lock:reference://waiting?closeTimeout=4s&name=waiting");
    private static final Duration SHORT = Duration.ofMillis(300);

    /** The clock of the façade; the engine under it has its own. */
    private static final class Counting implements TimeSource {
        private final AtomicInteger armed = new AtomicInteger();
        private final SystemTime machine = new SystemTime("counting");

        /** What happens in the instant in which the time of a wait is up. */
        private volatile Consumer<CompletableFuture<?>> lastMoment = outcome -> {};

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public Scheduled at(long atNanos, Runnable task) {
            armed.incrementAndGet();
            return machine.at(atNanos, task);
        }

        @Override
        public <T> T await(CompletableFuture<T> outcome, long deadlineNanos)
                throws InterruptedException, ExecutionException, TimeoutException {
            try {
                return TimeSource.super.await(outcome, deadlineNanos);
            } catch (TimeoutException e) {
                lastMoment.accept(outcome);
                throw e;
            }
        }
    }

    private final Counting time = new Counting();
    private final AtomicInteger grants = new AtomicInteger();
    private final AtomicInteger queued = new AtomicInteger();

    /** What happens when a request is withdrawn, before the engine hears of that. */
    private volatile Runnable withdrawal = () -> {};

    private LockClient other;
    private EngineClient client;

    @BeforeEach
    void openBoth() {
        other = open(URL.toString(), ClientOptions.defaults().withName("other"));
        client = waiting(PATIENCE);
    }

    private EngineClient waiting(Duration requestTimeout) {
        SystemTime clock = new SystemTime("waiting");
        OpenRequest request = new OpenRequest(
                URL,
                ClientOptions.defaults().withRequestTimeout(requestTimeout),
                getClass().getClassLoader(),
                clock);
        Settings settings = Settings.of(request.url(), request.options(), request.time(), request::get);
        ReferenceBackend backend =
                new ReferenceBackend(other.unwrap(ReferenceWorld.class), clock, ReferenceBackend.FEATURES, "");
        LockEngine engine = new StoreEngine(settings, backend, new WorkerThreads("waiting"));
        return EngineClient.open(settings, watched(LockEngine.class, engine));
    }

    private void withAShortRequestTimeout() {
        client.close();
        client = waiting(SHORT);
    }

    private void awaitQueued(int count) {
        await().atMost(PATIENCE).until(() -> queued.get() == count);
    }

    @AfterEach
    void close() {
        client.close();
        time.machine.close();
    }

    /** That engine, or what it tells or is told through: with our clock, and no call on the thread of the caller. */
    private <T> T watched(Class<T> type, T real) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, call, given) -> {
            Object[] arguments = given == null ? new Object[0] : given.clone();
            Method method = call;
            switch (call.getName()) {
                case "time" -> {
                    return time;
                }
                case "submit", "submitWaiting" -> {
                    method = LockEngine.class.getMethod("submit", Request.class, LockEngine.Sink.class);
                    arguments[1] = watched(LockEngine.Sink.class, (LockEngine.Sink) arguments[1]);
                }
                case "granted" -> arguments[0] = watched(LockEngine.Hold.class, (LockEngine.Hold) arguments[0]);
                case "releaseWaiting" -> method = LockEngine.Hold.class.getMethod("release", long.class);
                case "withdraw" -> withdrawal.run();
                default -> {}
            }
            try {
                return method.invoke(real, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            } finally {
                switch (call.getName()) {
                    case "granted" -> grants.incrementAndGet();
                    case "waiting" -> queued.incrementAndGet();
                    default -> {}
                }
            }
        }));
    }

    @Test
    void armsNoTimerWhateverItWaitsFor() throws Exception {
        Lease held = other.lock("x").acquire();
        Running<Optional<Lease>> queued = inThread(() -> client.lock("x").tryAcquire(Duration.ofSeconds(30)));
        awaitQueued(1);
        time.lastMoment = outcome -> awaitQueued(2);
        assertThat(client.lock("x").tryAcquire()).isEmpty();
        assertThat(client.lock("x").tryAcquire(Duration.ofMillis(1))).isEmpty();
        held.close();

        Lease lease = queued.get().orElseThrow();
        assertThat(client.admin().show(key("x"))).isPresent();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(client.lock("y").acquire().release()).isEqualTo(ReleaseOutcome.RELEASED);

        assertThat(time.armed).hasValue(0);
        Lease taken = other.lock("y").acquire();
        CompletableFuture<Optional<Lease>> asked = client.lock("y").tryAcquireAsync(PATIENCE);
        assertThat(time.armed).as("no thread waits").hasPositiveValue();
        taken.close();
        assertThat(asked.get(2, TimeUnit.MINUTES)
                        .orElseThrow()
                        .releaseAsync()
                        .toCompletableFuture()
                        .get(2, TimeUnit.MINUTES))
                .isEqualTo(ReleaseOutcome.RELEASED);
        await().atMost(PATIENCE).until(() -> store(other).isEmpty());
    }

    @Test
    void aWaitIsEmptyAtItsLimitAndNotBefore() throws Exception {
        Lease held = other.lock("x").acquire();
        time.lastMoment = outcome -> awaitQueued(1);
        long before = System.nanoTime();

        assertThat(client.lock("x").tryAcquire(Duration.ofMillis(40))).isEmpty();

        assertThat(System.nanoTime() - before)
                .isGreaterThanOrEqualTo(Duration.ofMillis(40).toNanos());
        await().atMost(PATIENCE).until(() -> waiters(other, "x") == 0);
        held.close();
        assertEmpty(other);
    }

    @Test
    void silenceIsNotAnEmptyResult() throws Exception {
        withAShortRequestTimeout();
        faults(client).hang(Verb.ATTEMPT);
        assertThatThrownBy(() -> client.lock("x").tryAcquire())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContainingAll("No answer about", "within 300ms", "The request was withdrawn");
        assertThat(time.armed).hasValue(0);
        faults(client).resume(Verb.ATTEMPT);
        await().atMost(PATIENCE).until(() -> store(other).isEmpty());
    }

    @Test
    void aReleaseWithoutAnAnswerIsUnknownAtItsLimit() throws Exception {
        withAShortRequestTimeout();
        Lease lease = client.lock("x").acquire();
        faults(client).hang(Verb.RELEASE);
        long before = System.nanoTime();

        assertThat(lease.release()).isEqualTo(ReleaseOutcome.UNKNOWN);

        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(SHORT.toNanos());
        assertThat(time.armed).hasValue(0);
        assertThat(lease.release()).as("for good").isEqualTo(ReleaseOutcome.UNKNOWN);
        faults(client).resume(Verb.RELEASE);
        await().atMost(PATIENCE).until(() -> store(other).isEmpty());
    }

    @Test
    void aQuestionWithoutAnAnswerFailsAtItsLimit() {
        withAShortRequestTimeout();
        faults(client).hang(Verb.ADMIN);
        assertThatThrownBy(() -> client.admin().show(key("x")))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("within 300ms");
        assertThat(time.armed).hasValue(0);
        faults(client).resume(Verb.ADMIN);
    }

    @Test
    void aGrantInTheInstantOfTheTimeOutIsUsed() throws Exception {
        Lease held = other.lock("x").acquire();
        time.lastMoment = outcome -> {
            held.close();
            await().atMost(PATIENCE).until(outcome::isDone);
        };

        Lease lease = client.lock("x").tryAcquire(Duration.ofMillis(20)).orElseThrow();

        assertThat(lease.isHeld()).isTrue();
        assertThat(other.lock("x").tryAcquire()).isEmpty();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertEmpty(other);
    }

    @Test
    void aGrantAfterTheTimeOutIsReleasedAndNotUsed() throws Exception {
        Lease held = other.lock("x").acquire();
        time.lastMoment = outcome -> awaitQueued(1);
        withdrawal = () -> {
            held.close();
            await().atMost(PATIENCE).until(() -> grants.get() == 1);
        };

        assertThat(client.lock("x").tryAcquire(Duration.ofMillis(20))).isEmpty();

        assertThat(grants).hasValue(1);
        await().atMost(PATIENCE).until(() -> store(other).isEmpty());
    }

    @Test
    void timeOutsRacingWithGrantsLeaveNothing() throws Exception {
        int granted = 0;
        for (int i = 0; i < 60; i++) {
            Lease held = other.lock("x").acquire();
            Duration limit = Duration.ofNanos(100_000 + i * 8_000L);
            Running<Boolean> waiting = inThread(() -> {
                try {
                    Optional<Lease> lease = client.lock("x").tryAcquire(limit);
                    return lease.isPresent() && lease.get().release() == ReleaseOutcome.RELEASED;
                } catch (LockUnavailableException e) {
                    return false;
                }
            });
            held.close();
            granted += waiting.get() ? 1 : 0;
        }
        assertThat(granted).isBetween(0, 60);
        await().atMost(PATIENCE).until(() -> store(other).isEmpty());
        assertThat(time.armed).hasValue(0);
    }
}
