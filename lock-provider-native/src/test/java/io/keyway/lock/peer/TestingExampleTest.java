// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** The programs of docs/testing.md, between the lines that say so. */
class TestingExampleTest {
    // the program begins
    /** Does its steps in order, one process at a time. */
    static final class Nightly {
        private final DistributedLock lock;
        private final List<Runnable> steps;

        Nightly(LockClient locks, List<Runnable> steps) {
            this.lock = locks.lock("jobs/nightly");
            this.steps = steps;
        }

        /** Returns whether it did the work: false if another process has been at it for five seconds. */
        boolean run() throws InterruptedException {
            return lock.tryRunLocked(Duration.ofSeconds(5), lease -> {
                for (Runnable step : steps) {
                    lease.ensureHeld();
                    step.run();
                }
            });
        }
    }
    // the program ends

    // the world begins
    private LockClient locks;
    private LockClient other;
    private MemoryWorld world;
    private MemoryWorld worldOfOther;

    @BeforeEach
    void openAWorldOfItsOwn(TestInfo test) {
        String url = "lock:native:mem://" + test.getTestMethod().orElseThrow().getName() + "?clock=manual&ttl=10s";
        locks = Locks.open(url, ClientOptions.defaults().withName("under test"));
        other = Locks.open(url, ClientOptions.defaults().withName("other process"));
        world = locks.unwrap(MemoryWorld.class);
        worldOfOther = other.unwrap(MemoryWorld.class);
    }

    @AfterEach
    void closeIt() {
        locks.close();
        other.close();
    }
    // the world ends

    // a wait begins
    @Test
    void doesNothingWhileAnotherProcessIsAtIt() throws InterruptedException {
        try (Lease theirs = other.lock("jobs/nightly").acquire()) {
            assertFalse(new Nightly(locks, List.of()).run()); // five seconds of the world's time, none of yours
            assertTrue(theirs.isHeld());
        }
        assertTrue(new Nightly(locks, List.of()).run());
    }
    // a wait ends

    // a cut begins
    @Test
    void stopsWhenItsLeaseIsLost() throws InterruptedException {
        Runnable longStep = () -> {
            world.cut(true); // no renewal arrives any more
            world.advance(Duration.ofSeconds(8)); // and belief ends after 3/4 of the ttl
        };
        Runnable never = () -> assertTrue(false, "a step under a lost lease");

        assertThrows(LeaseLostException.class, () -> new Nightly(locks, List.of(longStep, never)).run());

        assertTrue(other.lock("jobs/nightly").tryAcquire(Duration.ofSeconds(5)).isPresent());
    }
    // a cut ends

    // a break begins
    @Test
    void stopsWhenAnOperatorBreaksItsLock() {
        LockKey key = LockKey.lock("jobs/nightly");
        Runnable broken = () -> {
            try {
                long token = other.admin()
                        .show(key)
                        .orElseThrow()
                        .holders()
                        .get(0)
                        .token()
                        .orElseThrow();
                other.admin().breakLease(key, token, "test");
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };

        LeaseLostException loss =
                assertThrows(LeaseLostException.class, () -> new Nightly(locks, List.of(broken, () -> {})).run());

        assertEquals(LeaseLoss.Cause.BROKEN, loss.loss().cause());
    }
    // a break ends

    // unreachable begins
    @Test
    void failsWhenTheLocksCannotBeReached() {
        world.cut(true);

        assertThrows(LockUnavailableException.class, () -> new Nightly(locks, List.of()).run());
    }
    // unreachable ends

    // a restart begins
    @Test
    void aRestartOfTheServerCostsNoLeaseAndAMinuteOfNewOnes() throws InterruptedException {
        Lease held = other.lock("held").acquire();

        world.restart();

        // Nothing new is granted for a little more than maxTtl, and nobody is said to hold it.
        assertThrows(LockUnavailableException.class, () -> new Nightly(locks, List.of()).run());
        world.advance(Duration.ofMinutes(1));
        assertTrue(new Nightly(locks, List.of()).run());
        assertTrue(held.isHeld());
    }
    // a restart ends

    // a thread begins
    @Test
    void takesOverFromAProcessThatDied() throws InterruptedException {
        Lease theirs = other.lock("jobs/nightly").acquire();
        worldOfOther.cut(true); // it will not renew, and not release

        CompletableFuture<Lease> ours = CompletableFuture.supplyAsync(() -> {
            try {
                return locks.lock("jobs/nightly").acquire(); // blocks on a thread that does not move the clock
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });

        Lease lease = world.advanceUntil(ours, Duration.ofSeconds(30));
        assertTrue(lease.token() > theirs.token());
        assertEquals(Lease.State.LOST, theirs.state());
    }
    // a thread ends
}
