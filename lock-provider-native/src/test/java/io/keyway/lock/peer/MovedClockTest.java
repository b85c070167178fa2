// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.JavaLocks;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeasedLock;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.Renewal;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** No call waits for a time to which nobody moves the clock. */
@SuppressWarnings("LockNotBeforeTry") // each unlock is what a test is about
class MovedClockTest {
    private static final LockKey X = LockKey.lock(LockName.of("x"));

    private LockClient alice;
    private LockClient bob;
    private MemoryWorld world;
    private MemoryWorld ofBob;
    private Lease watch;

    @BeforeEach
    void open(TestInfo test) throws InterruptedException {
        String url = "lock:native:mem://moved-"
                + test.getTestMethod().orElseThrow().getName() + "?clock=manual&cache=off&ttl=10s";
        alice = Locks.open(url, ClientOptions.defaults().withName("alice"));
        bob = Locks.open(url, ClientOptions.defaults().withName("bob"));
        world = alice.unwrap(MemoryWorld.class);
        ofBob = bob.unwrap(MemoryWorld.class);
        LockOptions hour = LockOptions.none().withTtl(Duration.ofSeconds(60)).withRenewal(Renewal.NONE);
        watch = bob.lock("watch").with(hour).acquire();
    }

    @AfterEach
    void close() {
        alice.close();
        bob.close();
    }

    /** How much of the world's time has passed since the beginning of the test. */
    private Duration passed() {
        return Duration.ofSeconds(45).minus(watch.remaining());
    }

    @Test
    void aTryOverACutLinkEndsAfterTheRequestTimeoutOfTheWorld() throws Exception {
        Lease lease = alice.lock("x").acquire();
        ofBob.cut(true);

        assertThatThrownBy(() -> bob.lock("x").tryAcquire()).isInstanceOf(LockUnavailableException.class);

        assertThat(passed()).isEqualTo(Duration.ofSeconds(2));
        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void aTryForAHeldLockTakesNoTime() throws Exception {
        alice.lock("x").acquire();

        assertThat(bob.lock("x").tryAcquire()).isEmpty();

        assertThat(passed()).isZero();
    }

    @Test
    void aWaitTakesItsTimeAndNoMore() throws Exception {
        alice.lock("x").acquire();

        assertThat(bob.lock("x").tryAcquire(Duration.ofSeconds(7))).isEmpty();

        assertThat(passed()).isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void anAcquireAfterARestartLastsUntilTheMemberGrants() throws Exception {
        world.restart();

        try (Lease lease = alice.lock("x").acquire()) {
            assertThat(lease.isHeld()).isTrue();
        }

        assertThat(watch.isHeld()).as("a minute has passed").isFalse();
    }

    @Test
    void anAcquireLastsUntilTheLeaseOfALostHolderEnds() throws Exception {
        Lease lost = alice.lock("x").acquire();
        world.cut(true);

        Lease next = bob.lock("x").acquire();

        assertThat(lost.state()).isEqualTo(Lease.State.LOST);
        assertThat(next.token()).isGreaterThan(lost.token());
        assertThat(passed()).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void locksOfTheJdkWaitInTheTimeOfTheWorld() throws Exception {
        alice.lock("x").acquire();
        LeasedLock lock = JavaLocks.reentrant(bob.lock("x"));

        assertThat(lock.tryLock(200, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(passed()).isEqualTo(Duration.ofMillis(200));
        world.cut(true);
        lock.lock();
        lock.unlock();
        ofBob.cut(true);
        assertThatThrownBy(lock::tryLock).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void aReleaseOverACutLinkIsUnknownAfterTheRequestTimeout() throws Exception {
        Lease lease = alice.lock("x").acquire();
        world.cut(true);

        assertThat(lease.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
        Lease second = bob.lock("y").acquire();
        ofBob.cut(true);
        assertThat(second.releaseAsync().toCompletableFuture().join()).isEqualTo(ReleaseOutcome.UNKNOWN);
    }

    @Test
    void aQuestionOverACutLinkFailsAfterTheRequestTimeout() {
        ofBob.cut(true);

        assertThatThrownBy(() -> bob.admin().show(X)).isInstanceOf(LockUnavailableException.class);
        assertThat(passed()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(2));
    }

    @Test
    void aFutureThatTheMoverWaitsForIsCompleted() throws Exception {
        Lease lease = alice.lock("x").acquire();
        world.cut(true);

        LeaseLoss loss = lease.lost().toCompletableFuture().join();
        Lease next = bob.lock("x").acquireAsync().thenApply(granted -> granted).join();

        assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
        assertThat(next.isHeld()).isTrue();
    }

    @Test
    void timePassesUntilAStageIsCompletedAndNoFurther() throws Exception {
        Lease lost = alice.lock("x").acquire();
        world.cut(true);

        Lease next = world.advanceUntil(bob.lock("x").acquireAsync(), Duration.ofSeconds(20));

        assertThat(next.token()).isGreaterThan(lost.token());
        assertThat(passed()).isEqualTo(Duration.ofSeconds(10));
        ofBob.cut(true);
        assertThatThrownBy(() ->
                        world.advanceUntil(bob.lock("z").tryAcquireAsync(Duration.ofSeconds(1)), Duration.ofSeconds(5)))
                .isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void whatDoesNotComeTrueIsSaidAtTheLimit() throws Exception {
        alice.lock("x").acquire();
        CompletableFuture<Lease> waiting = bob.lock("x").acquireAsync();

        assertThatThrownBy(() -> world.advanceUntil(waiting, Duration.ofSeconds(31)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("PT31S");

        assertThat(passed()).isEqualTo(Duration.ofSeconds(31));
        assertThat(waiting).isNotDone();
    }

    @Test
    void threadsThatBlockWaitForTheMoverAndGoOnBeforeItMovesFurther() throws Exception {
        alice.lock("x").acquire();
        AtomicInteger tries = new AtomicInteger();
        CountDownLatch begun = new CountDownLatch(1);
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            Future<Optional<Lease>> service = threads.submit(() -> {
                begun.countDown();
                Optional<Lease> lease = Optional.empty();
                while (lease.isEmpty() && tries.incrementAndGet() < 100) {
                    lease = bob.lock("x").tryAcquire(Duration.ofSeconds(1));
                }
                return lease;
            });
            begun.await();
            await().until(() -> alice.admin().show(X).orElseThrow().waiters().size() == 1);
            assertThat(passed()).isZero();
            world.advanceUntil(() -> tries.get() == 5, Duration.ofSeconds(10));
            assertThat(passed()).isEqualTo(Duration.ofSeconds(4));

            world.cut(true);
            world.advanceUntil(service::isDone, Duration.ofSeconds(30));

            assertThat(service.get()).isPresent();
            assertThat(tries).hasValueBetween(10, 15);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aThreadThatComesLateIsMovedOnToo() throws Exception {
        world.restart();
        CompletableFuture<Lease> late = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
                late.complete(bob.lock("x").acquire());
            } catch (InterruptedException | RuntimeException e) {
                late.completeExceptionally(e);
            }
        });
        thread.start();

        assertThat(world.advanceUntil(late, Duration.ofSeconds(90)).isHeld()).isTrue();

        thread.join();
    }

    @Test
    void aThreadThatComesWhileTheClockIsMovedHasTheWholeLimitToo() throws Exception {
        world.restart(); // which grants nothing for a minute
        CompletableFuture<Lease> late = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                late.complete(bob.lock("x").acquire());
            } catch (InterruptedException | RuntimeException e) {
                late.completeExceptionally(e);
            }
        });

        world.advanceUntil(
                () -> {
                    if (passed().compareTo(Duration.ofSeconds(45)) >= 0 && thread.getState() == Thread.State.NEW) {
                        thread.start();
                        await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
                    }
                    return late.isDone();
                },
                Duration.ofSeconds(50));

        assertThat(late.join().isHeld()).isTrue();
        thread.join();
    }

    @Test
    void aThreadThatComesLateAndNeedsNoTimeIsWaitedForToo() throws Exception {
        CompletableFuture<Long> late = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            await().until(() -> passed().compareTo(Duration.ofSeconds(45)) >= 0);
            LockSupport.parkNanos(Duration.ofMillis(100).toNanos());
            late.complete(7L);
        });
        thread.start();

        assertThat(world.advanceUntil(late, Duration.ofSeconds(45))).isEqualTo(7);

        thread.join();
    }

    @Test
    void anInterruptEndsAWaitOfTheMover() throws Exception {
        alice.lock("x").acquire();
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> world.advanceUntil(bob.lock("x").acquireAsync(), Duration.ofHours(1)))
                .isInstanceOf(InterruptedException.class);
        assertThat(passed()).isLessThan(Duration.ofSeconds(10));
    }
}
