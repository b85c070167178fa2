// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.JavaLocks;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.engine.NativeEngine;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What a call does that nobody can answer: it fails, and says what to do. With a shorter patience than that of users.
 */
class StuckWorldTest {
    private static final Duration MAX_TTL = Duration.ofSeconds(60);
    private static final LockKey X = LockKey.lock(LockName.of("x"));

    private final MemoryWorlds worlds = new MemoryWorlds(Duration.ofMillis(300));
    private final LockClient alice = open(worlds, "alice");
    private final LockClient bob = open(worlds, "bob");

    private static LockClient open(MemoryWorlds worlds, String name) {
        Guarantee promise = new Guarantee(Grade.TIMED, "");
        Guarantees guarantees = new Guarantees(promise, promise, promise, promise, Duration.ofMillis(100), MAX_TTL);
        Cells cells = new Cells("mem:stuck", MAX_TTL, Algorithms.standard(), Authenticator.none());
        NativeEngine engine = new NativeEngine(
                name,
                Algorithms.standard(),
                Duration.ofSeconds(2),
                EnumSet.of(Feature.LIST),
                guarantees,
                listener -> worlds.join(
                        "stuck",
                        true,
                        (epoch, now, quarantine) -> cells.member("stuck", epoch, now + quarantine, Horizon.NONE),
                        cells.quarantine(),
                        cells::client,
                        listener));
        OpenRequest request = new OpenRequest(
                LockUrl.parse("lock:native:mem://stuck"),
                ClientOptions.defaults().withName(name),
                StuckWorldTest.class.getClassLoader(),
                engine.time());
        return request.over(engine);
    }

    @AfterEach
    void close() {
        alice.close();
        bob.close();
    }

    private static <T> T inAnotherThread(CompletableFuture<T> task) throws Exception {
        return task.get(Patience.seconds(30), TimeUnit.SECONDS);
    }

    @Test
    void anotherThreadIsToldThatNobodyMovesTheClock() throws Exception {
        bob.unwrap(MemoryWorld.class).cut(true);
        CompletableFuture<Optional<Lease>> waiting = CompletableFuture.supplyAsync(() -> {
            try {
                return bob.lock("x").tryAcquire();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });

        assertThatThrownBy(() -> inAnotherThread(waiting))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll(
                        "clock=manual",
                        "nobody has moved it for 0.3 s",
                        "advanceUntil",
                        Thread.currentThread().getName());
    }

    @Test
    void aMoverThatHasEndedIsNotWhoIsToMoveTheClock() throws Exception {
        MemoryWorld world = bob.unwrap(MemoryWorld.class);
        Thread former = new Thread(() -> world.advance(Duration.ZERO), "former");
        former.start();
        former.join();
        world.cut(true);

        assertThatThrownBy(() -> bob.lock("x").tryAcquire())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("The thread former", "has ended", "thread of the test");

        world.advance(Duration.ZERO);
        assertThatThrownBy(() -> bob.lock("x").tryAcquire()).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void whoHasWaitedForAnotherMoverDoesNotWaitForItself() throws Exception {
        MemoryWorlds patient = new MemoryWorlds(Duration.ofMinutes(4));
        try (LockClient holder = open(patient, "holder");
                LockClient waiter = open(patient, "waiter")) {
            MemoryWorld world = waiter.unwrap(MemoryWorld.class);
            holder.lock("x").acquire();
            CompletableFuture<Void> moved = new CompletableFuture<>();
            AtomicBoolean waited = new AtomicBoolean();
            Thread former = new Thread(
                    () -> {
                        while (!waited.get()) {
                            world.advance(Duration.ofSeconds(1));
                            moved.complete(null);
                        }
                    },
                    "former");
            former.start();
            moved.get(Patience.seconds(30), TimeUnit.SECONDS);
            assertThat(waiter.lock("x").tryAcquire(Duration.ofMinutes(1))).isEmpty();
            waited.set(true);
            former.join();

            world.advance(Duration.ZERO);
            assertThat(waiter.lock("x").tryAcquire(Duration.ofSeconds(5))).isEmpty();
        }
    }

    @Test
    void anotherThreadIsGrantedWhenTheClockIsMoved() throws Exception {
        MemoryWorld world = alice.unwrap(MemoryWorld.class);
        alice.lock("x").acquire();
        world.cut(true);
        CompletableFuture<Lease> waiting = CompletableFuture.supplyAsync(() -> {
            try {
                return bob.lock("x").acquire();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });

        assertThat(world.advanceUntil(waiting, Duration.ofMinutes(1)).isHeld()).isTrue();
    }

    @Test
    void theMoverThatWaitsForItselfIsToldAfterAnHourAndHasAskedForNothing() throws Exception {
        Lease lease = alice.lock("x").acquire();

        assertThatThrownBy(() -> bob.lock("x").acquire())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("by an hour to no avail", "advanceUntil");

        assertThat(lease.isHeld()).isTrue();
        assertThat(alice.admin().show(X).orElseThrow().waiters()).isEmpty();
        lease.release();
        assertThat(alice.lock("x").tryAcquire()).isPresent();
    }

    @Test
    void aLockOfTheJdkThatWaitsForItselfLeavesNoRequest() throws Exception {
        alice.lock("x").acquire();

        assertThatThrownBy(() -> JavaLocks.reentrant(bob.lock("x")).lock()).isInstanceOf(IllegalStateException.class);

        alice.unwrap(MemoryWorld.class).advance(Duration.ZERO);
        assertThat(alice.admin().show(X).orElseThrow().waiters()).isEmpty();
    }

    @Test
    void aFutureThatIsNeverCompletedIsToldToTheMoverToo() throws Exception {
        Lease lease = alice.lock("x").acquire();

        assertThatThrownBy(() -> lease.lost().toCompletableFuture().join())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("by an hour to no avail");

        assertThat(lease.isHeld()).isTrue();
    }
}
