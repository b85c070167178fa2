// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static io.keyway.lock.LockEvent.Type.DOUBTFUL;
import static io.keyway.lock.LockEvent.Type.GRANTED;
import static io.keyway.lock.LockEvent.Type.LOST;
import static io.keyway.lock.LockEvent.Type.RECOVERED;
import static io.keyway.lock.LockEvent.Type.RELEASED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.Lease.State;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockOptions;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.Renewal;
import io.keyway.lock.reference.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rules R8 (belief ends at the deadline, exactly) and R9 (one terminal event), on a clock that stands still. */
class LeaseTest extends ReferenceClients {

    private final List<LockEvent> events = new ArrayList<>();
    private LockClient client;

    @BeforeEach
    void openInline() {
        client = open(manual, ClientOptions.defaults().withName("a").withEventExecutor(Runnable::run));
        client.addListener(events::add);
    }

    @Test
    void locksWithoutOptionsOfTheirOwnShareThoseOfTheClient() throws Exception {
        LockOptions longer = LockOptions.none().withTtl(Duration.ofSeconds(25));
        HeldLease x = (HeldLease) client.lock("x").acquire();
        HeldLease own = (HeldLease) client.lock("y").with(longer).acquire();
        HeldLease z = (HeldLease) client.lock("z").acquire();

        assertThat(z.options()).isSameAs(x.options());
        assertThat(z.ttl()).isEqualTo(Duration.ofSeconds(10));
        assertThat(own.ttl()).isEqualTo(Duration.ofSeconds(25));
    }

    /** Nobody lives to see the end of 292 years, at which a clock of nanoseconds overflows. */
    @Test
    void aLimitOfAgesIsNoLimit() throws Exception {
        Duration ages = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
        for (LockOptions options : List.of(
                LockOptions.none().withMaxHold(ages),
                LockOptions.none().withMaxHold(ages, ages.minusNanos(1)),
                LockOptions.none().withMaxHold(ages, Duration.ofDays(365_000)),
                LockOptions.none().withMaxHold(Duration.ofDays(150_000)),
                LockOptions.none().withMaxHold(ages).withRenewal(Renewal.NONE),
                LockOptions.none().withWarnAfter(ages))) {
            Lease lease = client.lock("x").with(options).tryAcquire().orElseThrow();
            time(client).advance(Duration.ofSeconds(5));
            assertThat(lease.state()).as("%s", options).isEqualTo(State.HELD);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
        assertThat(types(events)).doesNotContain(LockEvent.Type.HELD_LONG);
    }

    @Test
    void renewalKeepsItForAsLongAsItIsWanted() throws Exception {
        Lease lease = client.lock("x").acquire();
        for (int i = 0; i < 600; i++) {
            time(client).advance(Duration.ofSeconds(1));
            assertThat(lease.state()).isEqualTo(State.HELD);
            assertThat(lease.remaining()).isBetween(Duration.ofMillis(2500), Duration.ofMillis(7500));
        }
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(types(events)).containsExactly(LockEvent.Type.CONNECTED, GRANTED, RELEASED);
        assertEmpty(client);
    }

    @Test
    void itIsDoubtfulAtFiveEighthsAndLostExactlyAtThreeQuarters() throws Exception {
        Lease lease = client.lock("x").acquire();
        CompletableFuture<LeaseLoss> lost = lease.lost().toCompletableFuture();
        faults(client).cut(true);
        time(client).advance(Duration.ofNanos(6_250_000_000L - 1));
        assertThat(lease.state()).isEqualTo(State.HELD);
        time(client).advance(Duration.ofNanos(1));
        assertThat(lease.state()).isEqualTo(State.DOUBTFUL);
        assertThat(lease.isHeld()).isTrue();
        time(client).advance(Duration.ofNanos(1_250_000_000L - 1));
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.remaining()).isEqualTo(Duration.ofNanos(1));
        assertThat(lost).isNotDone();
        time(client).advance(Duration.ofNanos(1));
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.remaining()).isZero();
        assertThat(lease.state()).isEqualTo(State.LOST);
        assertThat(lost.join().cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
        assertThat(lost.join().heldFor()).isEqualTo(Duration.ofMillis(7500));
        assertThatThrownBy(lease::ensureHeld).isInstanceOf(LeaseLostException.class);
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        faults(client).cut(false);
        time(client).advance(Duration.ofSeconds(60));
        assertThat(lease.state()).as("latched").isEqualTo(State.LOST);
        assertThat(types(events)).containsExactly(LockEvent.Type.CONNECTED, GRANTED, DOUBTFUL, LOST);
        assertThat(client.lock("x").tryAcquire()).isPresent();
    }

    @Test
    void aQuestionAfterAPauseSeesTheLapseBeforeAnyTimerDoes() throws Exception {
        Lease lease = client.lock("x").acquire();
        List<State> seen = new ArrayList<>();
        // Armed after the kit's timers of the same time, and asked at the leap's end by the first that runs.
        time(client).at(time(client).nanoTime(), () -> seen.add(lease.state()));
        time(client).leap(Duration.ofSeconds(9));
        assertThat(seen).containsExactly(State.LOST);
        assertThat(lease.state()).isEqualTo(State.LOST);
        assertThat(types(events)).containsExactly(LockEvent.Type.CONNECTED, GRANTED, LOST);
        assertFreeAfter(Duration.ofSeconds(1));
    }

    @Test
    void doubtEndsWithTheNextRenewal() throws Exception {
        Lease lease = client.lock("x").acquire();
        faults(client).cut(true);
        time(client).advance(Duration.ofMillis(6500));
        assertThat(lease.state()).isEqualTo(State.DOUBTFUL);
        faults(client).cut(false);
        time(client).advance(Duration.ofMillis(900));
        assertThat(lease.state()).isEqualTo(State.HELD);
        lease.close();
        assertThat(types(events)).containsExactly(LockEvent.Type.CONNECTED, GRANTED, DOUBTFUL, RECOVERED, RELEASED);
    }

    @Test
    void aRenewalThatIsRefusedEndsIt() throws Exception {
        Lease lease = client.lock("x").acquire();
        // Another life of the store: it does not know the grant.
        store(client).forgetAll();
        time(client).advance(Duration.ofSeconds(5));
        assertThat(lease.state()).isEqualTo(State.LOST);
        assertThat(types(events)).containsExactly(LockEvent.Type.CONNECTED, GRANTED, LOST);
    }

    @Test
    void aReleaseThatFindsNothingIsALoss() throws Exception {
        Lease lease = client.lock("x").acquire();
        store(client).forgetAll();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        assertThat(lease.lost().toCompletableFuture()).isCompleted();
        assertThat(types(events)).containsExactly(LockEvent.Type.CONNECTED, GRANTED, LOST);
    }

    @Test
    void afterARealReleaseNoLossIsTold() throws Exception {
        Lease lease = client.lock("x").acquire();
        CompletableFuture<LeaseLoss> lost = lease.lost().toCompletableFuture();
        lease.close();
        time(client).advance(Duration.ofMinutes(1));
        client.close();
        assertThat(lost).isNotDone();
        assertThat(lease.state()).isEqualTo(State.RELEASED);
        assertThat(types(events)).containsExactly(LockEvent.Type.CONNECTED, GRANTED, RELEASED);
    }

    @Test
    void withoutRenewalItEndsAtItsFirstDeadline() throws Exception {
        Lease lease = client.lock("x")
                .with(LockOptions.none().withRenewal(Renewal.NONE))
                .acquire();
        time(client).advance(Duration.ofMillis(7499));
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.remaining()).isEqualTo(Duration.ofMillis(1));
        time(client).advance(Duration.ofMillis(1));
        assertThat(lease.state()).isEqualTo(State.LOST);
        assertThat(lease.lost().toCompletableFuture().join().cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
        assertFreeAfter(Duration.ofMillis(2500));
    }

    @Test
    void beforeItsMaxHoldTheHolderIsToldToUnlock() throws Exception {
        LockOptions limited = LockOptions.none().withMaxHold(Duration.ofMinutes(1), Duration.ofSeconds(10));
        Lease lease = client.lock("x").with(limited).acquire();
        Lease released = client.lock("y").with(limited).acquire();
        time(client).advance(Duration.ofSeconds(50).minusNanos(1));
        assertThat(types(events)).doesNotContain(LockEvent.Type.UNLOCKING);
        released.close();
        time(client).advance(Duration.ofNanos(1));
        LockEvent last = events.get(events.size() - 1);
        assertThat(last.type()).isEqualTo(LockEvent.Type.UNLOCKING);
        assertThat(last.key()).isEqualTo(key("x"));
        assertThat(last.token()).hasValue(lease.token());
        assertThat(last.after()).isEqualTo(Duration.ofSeconds(50));
        assertThat(lease.isHeld()).isTrue();
        time(client).advance(Duration.ofSeconds(10));
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.lost().toCompletableFuture().join().cause()).isEqualTo(LeaseLoss.Cause.MAX_HOLD);
        time(client).advance(Duration.ofMinutes(2));
        assertThat(types(events)).containsOnlyOnce(LockEvent.Type.UNLOCKING);
    }

    @Test
    void whoUnlocksInTimeLosesNothing() throws Exception {
        Lease lease = client.lock("x")
                .with(LockOptions.none().withMaxHold(Duration.ofMinutes(1), Duration.ofSeconds(10)))
                .acquire();
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.UNLOCKING) {
                lease.close();
            }
        });
        time(client).advance(Duration.ofMinutes(2));
        assertThat(types(events))
                .containsExactly(LockEvent.Type.CONNECTED, GRANTED, LockEvent.Type.UNLOCKING, RELEASED);
    }

    @Test
    void maxHoldIsAHardEnd() throws Exception {
        Lease lease = client.lock("x")
                .with(LockOptions.none().withMaxHold(Duration.ofMinutes(1)))
                .acquire();
        time(client).advance(Duration.ofMillis(59_999));
        assertThat(lease.isHeld()).isTrue();
        assertThat(lease.remaining()).isEqualTo(Duration.ofMillis(1));
        time(client).advance(Duration.ofMillis(1));
        assertThat(lease.isHeld()).isFalse();
        LeaseLoss loss = lease.lost().toCompletableFuture().join();
        assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.MAX_HOLD);
        assertThat(loss.heldFor()).isEqualTo(Duration.ofMinutes(1));
        assertFreeAfter(Duration.ofMillis(2500));
    }

    @Test
    void aLapsedLeaseGoesBackWhenItsOwnerHasStopped() throws Exception {
        Lease limited = client.lock("x")
                .with(LockOptions.none().withMaxHold(Duration.ofSeconds(1)))
                .acquire();
        Lease unrenewed = client.lock("y")
                .with(LockOptions.none().withRenewal(Renewal.NONE))
                .acquire();
        time(client).advance(Duration.ofSeconds(1));
        assertThat(client.lock("x").tryAcquire()).isEmpty();
        assertThat(limited.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        client.lock("x").tryAcquire().orElseThrow().close();
        time(client).advance(Duration.ofMillis(6500));
        assertThat(client.lock("y").tryAcquire()).isEmpty();
        unrenewed.close();
        client.lock("y").tryAcquire().orElseThrow().close();
        time(client).advance(Duration.ofMinutes(1));
        assertThat(time(client).armed()).as("no timer is left").isZero();
    }

    @Test
    void aLapsedLeaseGoesBackWhenTheClientIsClosed() throws Exception {
        LockClient other = open("b");
        client.lock("x")
                .with(LockOptions.none().withMaxHold(Duration.ofSeconds(1)))
                .acquire();
        Lease silent = client.lock("y").acquire();
        faults(client).cut(true);
        time(client).advance(Duration.ofMillis(7600));
        assertThat(silent.state()).isEqualTo(State.LOST);
        faults(client).cut(false);
        client.lock("z")
                .with(LockOptions.none().withMaxHold(Duration.ofSeconds(1)))
                .acquire();
        time(client).advance(Duration.ofSeconds(1));
        assertThat(other.lock("z").tryAcquire()).isEmpty();
        assertThat(other.lock("y").tryAcquire()).isEmpty();
        client.close();
        assertEmpty(other);
    }

    @Test
    void whatALeaseThatLapsedHasBecomeIsKeptForItsOwner() throws Exception {
        LockClient other = open("b");
        Lease reader = other.readWriteLock("x").read().acquire();
        Lease read = client.readWriteLock("x")
                .read()
                .with(LockOptions.none().withMaxHold(Duration.ofSeconds(1)))
                .acquire();
        Running<Optional<Lease>> upgrade =
                inThread(() -> client.readWriteLock("x").tryUpgrade(read, Duration.ofMinutes(1)));
        awaitWaiters(other, "x", 1);
        time(client).advance(Duration.ofMillis(1500));
        assertThat(read.state()).isEqualTo(State.LOST);
        reader.close();
        assertThatThrownBy(upgrade::get).hasCauseInstanceOf(LeaseLostException.class);
        assertThat(other.lock("x").tryAcquire()).isEmpty();
        time(client).advance(Duration.ofMillis(1999));
        assertThat(other.lock("x").tryAcquire()).isEmpty();
        time(client).advance(Duration.ofMillis(1));
        assertThat(other.lock("x").tryAcquire()).isPresent();
    }

    /** Nobody is granted the lock {@code x} for so long, and then anybody. */
    private void assertFreeAfter(Duration time) throws InterruptedException {
        time(client).advance(time.minusNanos(1));
        assertThat(client.lock("x").tryAcquire())
                .as("before its owner has had time to stop")
                .isEmpty();
        time(client).advance(Duration.ofNanos(1));
        client.lock("x").tryAcquire().orElseThrow().close();
        assertEmpty(client);
    }

    @Test
    void anUnansweredReleaseIsUnknownAfterTheRequestTimeoutAndCleanedUp() throws Exception {
        Lease lease = client.lock("x").acquire();
        faults(client).cut(true);
        Running<ReleaseOutcome> releasing = inThread(() -> {
            Thread.currentThread().interrupt();
            ReleaseOutcome outcome = lease.release();
            assertThat(Thread.currentThread().isInterrupted())
                    .as("the flag is kept")
                    .isTrue();
            return outcome;
        });
        org.awaitility.Awaitility.await()
                .atMost(PATIENCE)
                .until(() ->
                        lease.state() == State.RELEASED && releasing.thread().getState() == Thread.State.WAITING);
        time(client).advance(Duration.ofMillis(1999));
        assertThat(releasing.result()).isNotDone();
        time(client).advance(Duration.ofMillis(1));
        assertThat(releasing.get()).isEqualTo(ReleaseOutcome.UNKNOWN);
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
        faults(client).cut(false);
        time(client).advance(Duration.ofSeconds(3));
        assertEmpty(client);
        assertThat(types(events)).containsExactly(LockEvent.Type.CONNECTED, GRANTED, RELEASED);
    }

    @Test
    void aLostReplyOfARenewalChangesNothing() throws Exception {
        Lease lease = client.lock("x").acquire();
        faults(client).dropReplies(Verb.RENEW, 2);
        time(client).advance(Duration.ofSeconds(30));
        assertThat(lease.state()).isEqualTo(State.HELD);
        lease.close();
        assertEmpty(client);
    }

    @Test
    void aLeaseHeldTooLongIsReportedOnce() throws Exception {
        Lease lease = client.lock("x")
                .with(LockOptions.none().withWarnAfter(Duration.ofSeconds(30)))
                .acquire();
        time(client).advance(Duration.ofMillis(29_999));
        assertThat(types(events)).doesNotContain(LockEvent.Type.HELD_LONG);
        time(client).advance(Duration.ofMinutes(5));
        assertThat(types(events)).containsOnlyOnce(LockEvent.Type.HELD_LONG);
        lease.close();
    }

    @Test
    void aLeaseReleasedInTimeIsNotReported() throws Exception {
        client.lock("x")
                .with(LockOptions.none().withWarnAfter(Duration.ofSeconds(30)))
                .acquire()
                .close();
        time(client).advance(Duration.ofMinutes(5));
        assertThat(types(events)).doesNotContain(LockEvent.Type.HELD_LONG);
        assertThat(time(client).armed()).as("no timer is left").isZero();
    }
}
