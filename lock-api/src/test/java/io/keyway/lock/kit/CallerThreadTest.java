// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceFaults;
import io.keyway.lock.reference.ReferenceProvider;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.reference.Verb;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A store whose verbs end in time is called by the thread that waits for the answer, unless that could keep it too
 * long.
 */
class CallerThreadTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** Who made which call. */
    private record Made(Verb verb, Thread by) {}

    private static final class Prompt extends ReferenceProvider {
        final List<Made> calls = new CopyOnWriteArrayList<>();

        @Override
        protected ReferenceBackend backend(LockUrl url, ReferenceWorld world, TimeSource time, String trouble) {
            return new ReferenceBackend(world, time, features(url), trouble) {
                @Override
                public boolean prompt() {
                    return true;
                }

                @Override
                public Attempt attempt(Request request, Duration limit) throws Exception {
                    calls.add(new Made(Verb.ATTEMPT, Thread.currentThread()));
                    return super.attempt(request, limit);
                }

                @Override
                public Answer release(Grant grant, Duration limit) throws Exception {
                    calls.add(new Made(Verb.RELEASE, Thread.currentThread()));
                    return super.release(grant, limit);
                }
            };
        }
    }

    private final Prompt provider = new Prompt();
    private LockClient client;
    private DistributedLock lock;

    @BeforeEach
    void open() throws InterruptedException {
        client = open("one");
        lock = client.lock("called");
        // The first call connects, which no caller's thread does.
        lock.acquire().release();
        assertThat(provider.calls.get(0).by()).isNotSameAs(Thread.currentThread());
        provider.calls.clear();
    }

    private LockClient open(String name) {
        LockUrl url = LockUrl.parse("lock:reference://caller");
        ClientOptions options = ClientOptions.defaults().withName(name);
        return provider.open(new OpenRequest(url, options, getClass().getClassLoader(), new SystemTime(name)));
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void whoWaitsMakesTheCalls() throws InterruptedException {
        int own = 0;
        for (int i = 0; i < 100; i++) {
            provider.calls.clear();
            lock.acquire().release();
            lock.tryAcquire().orElseThrow().close();
            assertThat(provider.calls).hasSize(4);
            own += provider.calls.stream().allMatch(call -> call.by() == Thread.currentThread()) ? 1 : 0;
        }
        // Now and then another thread is still busy with what the calls before had to say.
        assertThat(own).isGreaterThan(50);
    }

    @Test
    void whoDoesNotWaitOrNotLongEnoughMakesNone() throws Exception {
        Lease lease = lock.acquireAsync().get();
        lease.releaseAsync().toCompletableFuture().get();
        Lease other = lock.tryAcquire(Duration.ofMillis(500)).orElseThrow();
        other.releaseAsync().toCompletableFuture().get();
        assertThat(provider.calls)
                .hasSize(4)
                .allSatisfy(call -> assertThat(call.by()).isNotSameAs(Thread.currentThread()));
    }

    /** Until no other thread is busy with what the calls before had to say: a caller makes its call itself then. */
    private void settle() {
        await().atMost(PATIENCE).until(() -> {
            provider.calls.clear();
            client.lock("settled").tryAcquire().orElseThrow().close();
            return provider.calls.stream().allMatch(call -> call.by() == Thread.currentThread());
        });
    }

    @Test
    void anInterruptEndsTheCallAndTheRequest() throws Exception {
        settle();
        client.unwrap(ReferenceFaults.class).hang(Verb.ATTEMPT);
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                lock.acquire();
                failure.complete(null);
            } catch (InterruptedException e) {
                failure.complete(e);
            }
        });
        caller.start();
        await().atMost(PATIENCE).until(() -> provider.calls.stream().anyMatch(call -> call.by() == caller));
        caller.interrupt();
        assertThat(failure.get()).isInstanceOf(InterruptedException.class);
        client.unwrap(ReferenceFaults.class).resume(Verb.ATTEMPT);
        try (LockClient other = open("two")) {
            assertThat(other.lock("called").tryAcquire(PATIENCE)).isPresent();
        }
    }

    @Test
    void anInterruptThatWasThereBeforeDoesNotEndARelease() throws Exception {
        Lease lease = lock.acquire();
        Thread.currentThread().interrupt();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(provider.calls.get(1).by()).isNotSameAs(Thread.currentThread());
    }

    @Test
    void manyCallersGoThroughOneByOne() throws Exception {
        int[] inside = new int[1];
        List<CompletableFuture<Void>> callers = IntStream.range(0, 12)
                .mapToObj(i -> CompletableFuture.runAsync(
                        () -> {
                            for (int n = 0; n < 200; n++) {
                                try (Lease lease = lock.acquire()) {
                                    inside[0]++;
                                } catch (InterruptedException e) {
                                    throw new IllegalStateException(e);
                                }
                            }
                        },
                        task -> new Thread(task).start()))
                .toList();
        CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new)).get();
        assertThat(inside[0]).isEqualTo(2_400);
    }

    @Test
    void aClientThatClosesLeavesNobodyInACall() throws Exception {
        Lease held = lock.acquire();
        settle();
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        Thread caller = new Thread(() -> {
            try {
                lock.acquire();
            } catch (InterruptedException | RuntimeException e) {
                failure.complete(e);
            }
        });
        caller.start();
        await().atMost(PATIENCE).until(() -> provider.calls.stream().anyMatch(call -> call.by() == caller));
        client.close();
        assertThatThrownBy(() -> {
                    throw failure.get();
                })
                .isInstanceOf(ClientClosedException.class);
        assertThat(held.isHeld()).isFalse();
    }
}
