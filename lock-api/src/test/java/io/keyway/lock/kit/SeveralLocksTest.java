// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockSet;
import io.keyway.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Several locks at once, over a client of a store; what users see of them is judged by the compatibility kit too. */
class SeveralLocksTest extends ReferenceClients {

    @Test
    void namesAreInOneOrderAndEachIsThereOnce() {
        LockClient a = open("a");

        assertThat(a.locks("z", "b/c", "a").names()).extracting(LockName::value).containsExactly("a", "b/c", "z");
        assertThatThrownBy(() -> a.locks("x", "y", "x")).hasMessageContaining("the name x twice");
        assertThatThrownBy(a::locks).hasMessageContaining("at least 1 name");
        assertThatThrownBy(() -> a.locks("x", "y//z")).hasMessageContaining("y//z");
        assertThatThrownBy(() -> a.locks("x").with(LockOptions.none().withHoldAtLeast(Duration.ofSeconds(1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("holdAtLeast");
    }

    @Test
    void aLossOfOneIsSeenAtTheDeadlineOfTheFirst() throws Exception {
        LockClient a = open("a");
        LeaseSet set = a.locks("x", "y")
                .with(LockOptions.none().withMaxHold(Duration.ofSeconds(1)))
                .acquire();
        List<LeaseLoss> told = new CopyOnWriteArrayList<>();
        set.lost().thenAccept(told::add);

        time(a).advance(Duration.ofSeconds(1).minusNanos(1));
        assertThat(set.isHeld()).isTrue();
        assertThat(set.remaining()).isEqualTo(Duration.ofNanos(1));
        time(a).advance(Duration.ofNanos(1));

        assertThat(set.isHeld()).isFalse();
        assertThatThrownBy(set::ensureHeld)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("the lease of x");
        await().atMost(PATIENCE).until(() -> !told.isEmpty());
        assertThat(told)
                .singleElement()
                .satisfies(loss -> assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.MAX_HOLD));
        assertThat(set.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        assertThat(set.state()).isEqualTo(Lease.State.LOST);
    }

    @Test
    void workThatLostOneOfItsLocksIsNotReportedAsDone() {
        LockClient a = open("a");
        LockClient operator = open("operator");

        assertThatThrownBy(() -> a.locks("x", "y").callLocked(leases -> {
                    operator.admin().breakLease(key("y"), leases.token("y"), "the test");
                    await().atMost(PATIENCE).until(() -> !leases.isHeld());
                    return "done";
                }))
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("the lease of y: broken: the test");
    }

    @Test
    void closingTheClientEndsASetAndItsWaiters() throws Exception {
        LockClient a = open("a");
        LockClient b = open("b");
        LeaseSet set = a.locks("x", "y").acquire();
        List<LeaseLoss> told = new CopyOnWriteArrayList<>();
        set.lost().thenAccept(told::add);
        CompletableFuture<LeaseSet> waits = b.locks("w", "y").acquireAsync();
        awaitWaiters(a, "y", 1);

        b.close();
        assertThatThrownBy(() -> waits.get(2, TimeUnit.MINUTES)).hasMessageContaining("closed");
        a.close();

        assertThat(told)
                .singleElement()
                .satisfies(loss -> assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.CLIENT_CLOSED));
        assertThat(set.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        assertEmpty(open("c"));
    }

    @Test
    void aFutureThatWaitsLetsTimePassAsACallDoes() throws Exception {
        LockClient a = open("a");
        LockClient b = open("b");
        Lease held = a.lock("y").acquire();

        CompletableFuture<Optional<LeaseSet>> limited = b.locks("x", "y").tryAcquireAsync(Duration.ofSeconds(2));
        time(a).advance(Duration.ofSeconds(2));

        assertThat(limited.get(2, TimeUnit.MINUTES)).isEmpty();
        assertThat(a.lock("x").tryAcquire()).isPresent();
        assertThat(held.isHeld()).isTrue();
    }

    /** Whoever gives up, and however, nothing stays. */
    @Test
    void racesOfGivingUpAndBeingGrantedLeaveNothing() throws Exception {
        String url = "lock:reference://races";
        LockClient a = open(url, ClientOptions.defaults().withName("a"));
        LockClient b = open(url, ClientOptions.defaults().withName("b"));
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 200; i++) {
            LockSet mine = a.locks("x", "y", "z");
            Lease y = b.lock("y").acquire();
            CompletableFuture<LeaseSet> waits = mine.acquireAsync();
            Running<ReleaseOutcome> releases = inThread(y::release);
            if (random.nextBoolean()) {
                Thread.onSpinWait();
            }
            boolean cancelled = waits.cancel(false);
            assertThat(releases.get()).isEqualTo(ReleaseOutcome.RELEASED);
            if (!cancelled) {
                waits.join().close();
            }
        }
        try (LeaseSet all = b.locks("x", "y", "z").acquire()) {
            all.ensureHeld();
        }
        await().atMost(PATIENCE).until(() -> store(a).isEmpty());
    }
}
