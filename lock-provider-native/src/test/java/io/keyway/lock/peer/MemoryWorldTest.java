// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** The whole native provider in one JVM, on a clock that the test moves. */
class MemoryWorldTest {
    private static final Duration TTL = Duration.ofSeconds(10);

    private LockClient alice;
    private LockClient bob;
    private MemoryWorld world;

    @BeforeEach
    void open(TestInfo test) {
        String url = "lock:native:mem://" + test.getTestMethod().orElseThrow().getName() + "?clock=manual";
        alice = Locks.open(url, ClientOptions.defaults().withName("alice"));
        bob = Locks.open(url, ClientOptions.defaults().withName("bob"));
        world = alice.unwrap(MemoryWorld.class);
    }

    @AfterEach
    void close() {
        alice.close();
        bob.close();
    }

    @Test
    void oneHoldsAndTheOtherIsRefused() throws InterruptedException {
        try (Lease lease = alice.lock("a").acquire()) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(bob.lock("a").tryAcquire()).isEmpty();
            assertThat(bob.lock("b").tryAcquire()).isPresent();
        }
    }

    @Test
    void aReleasedLockStaysCachedAndIsRecalledForTheFirstOneWhoWantsIt() throws InterruptedException {
        Lease first = alice.lock("a").acquire();
        assertThat(first.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease second = alice.lock("a").acquire();
        assertThat(second.token()).isEqualTo(first.token() + 1);
        second.close();
        Optional<Lease> third = bob.lock("a").tryAcquire();
        assertThat(third).isPresent();
        assertThat(third.orElseThrow().token()).isGreaterThan(second.token());
    }

    @Test
    void aHeldLockIsRenewedForAsLongAsItsHolderLives() throws InterruptedException {
        Lease lease = alice.lock("a").acquire();
        for (int i = 0; i < 100; i++) {
            world.advance(TTL);
            assertThat(lease.state()).isEqualTo(Lease.State.HELD);
        }
        assertThat(bob.lock("a").tryAcquire()).isEmpty();
    }

    @Test
    void aHolderThatIsCutOffStopsAtThreeQuartersAndTheNextIsGrantedAtTheEnd() throws Exception {
        List<LockEvent> events = new CopyOnWriteArrayList<>();
        alice.addListener(events::add);
        Lease lease = alice.lock("a").acquire();
        CompletableFuture<Lease> waiting = bob.lock("a").acquireAsync();
        world.cut(true);
        world.advance(TTL.multipliedBy(3).dividedBy(4).minusNanos(1));
        assertThat(lease.isHeld()).isTrue();
        assertThat(waiting).isNotDone();
        world.advance(Duration.ofNanos(1));
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThat(lease.lost()
                        .toCompletableFuture()
                        .get(Patience.seconds(10), TimeUnit.SECONDS)
                        .cause())
                .isEqualTo(LeaseLoss.Cause.EXPIRED);
        assertThat(events).extracting(LockEvent::type).contains(LockEvent.Type.LOST);
        assertThat(waiting).isNotDone();
        world.advance(TTL.dividedBy(4));
        assertThat(waiting).isDone();
        assertThat(waiting.get().token()).isGreaterThan(lease.token());
        world.cut(false);
        world.advance(TTL);
        assertThat(lease.isHeld()).isFalse();
        assertThat(waiting.get().isHeld()).isTrue();
    }

    @Test
    void aLostReplyToAnAcquireIsMadeGood() throws Exception {
        world.dropReplies(3);
        CompletableFuture<Lease> lease = alice.lock("a").acquireAsync();
        world.advance(Duration.ofSeconds(5));
        assertThat(lease).isDone();
        assertThat(lease.get().isHeld()).isTrue();
        assertThat(bob.lock("a").tryAcquire()).isEmpty();
    }

    /** Of a lock that nobody has ever held. */
    @Test
    void aTimedTryAtAMemberThatGrantsNothingYetIsNotTaken() throws Exception {
        world.restart();
        Duration soon = Duration.ofSeconds(1);
        assertThatThrownBy(() -> bob.lock("fresh").tryAcquire()).isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(() -> bob.lock("fresh").tryAcquire(soon))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("grants nothing");
        CompletableFuture<Optional<Lease>> later = bob.lock("fresh").tryAcquireAsync(soon);
        world.advance(soon);
        assertThatThrownBy(later::join).hasCauseInstanceOf(LockUnavailableException.class);
        world.advance(Duration.ofSeconds(62));
        assertThat(bob.lock("fresh").tryAcquire(soon)).isPresent();
    }

    @Test
    void holdersSurviveARestartOfTheMember() throws Exception {
        Lease lease = alice.lock("a").acquire();
        world.restart();
        CompletableFuture<Lease> other = bob.lock("b").acquireAsync();
        world.advance(Duration.ofSeconds(5));
        assertThat(lease.isHeld()).isTrue();
        assertThat(other).as("a restarted member grants nothing yet").isNotDone();
        world.advance(Duration.ofSeconds(62));
        assertThat(lease.isHeld()).isTrue();
        assertThat(other).isDone();
        CompletableFuture<Lease> next = bob.lock("a").acquireAsync();
        world.advance(TTL);
        assertThat(next).isNotDone();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        world.advance(Duration.ZERO);
        assertThat(next.get(Patience.seconds(10), TimeUnit.SECONDS).token()).isGreaterThan(lease.token());
    }

    @Test
    void waitersAreServedInTheOrderInWhichTheyAsked() throws Exception {
        Lease lease = alice.lock("a").acquire();
        CompletableFuture<Lease> first = bob.lock("a").acquireAsync();
        world.advance(Duration.ofMillis(1));
        LockClient carol = Locks.open(alice.url(), ClientOptions.defaults().withName("carol"));
        CompletableFuture<Lease> second = carol.lock("a").acquireAsync();
        world.advance(Duration.ofMillis(1));
        LockStatus status = alice.admin()
                .show(new LockKey(LockKey.Kind.LOCK, LockName.of("a")))
                .orElseThrow();
        assertThat(status.holders()).extracting(LockStatus.Holder::client).containsExactly("alice");
        assertThat(status.waiters()).extracting(LockStatus.Waiter::client).containsExactly("bob", "carol");
        lease.close();
        assertThat(first.get(Patience.seconds(10), TimeUnit.SECONDS).isHeld()).isTrue();
        assertThat(second).isNotDone();
        first.get().close();
        assertThat(second.get(Patience.seconds(10), TimeUnit.SECONDS).isHeld()).isTrue();
        carol.close();
    }

    @Test
    void aBreakEndsTheGrantThatItNamesAndNoOther() throws Exception {
        Lease lease = alice.lock("a").acquire();
        LockKey key = new LockKey(LockKey.Kind.LOCK, LockName.of("a"));
        assertThat(bob.admin().breakLease(key, lease.token() + 1, "wrong token"))
                .isFalse();
        assertThat(lease.isHeld()).isTrue();
        assertThat(bob.admin().breakLease(key, lease.token(), "it hangs")).isTrue();
        assertThat(lease.isHeld()).isFalse();
        assertThat(lease.lost()
                        .toCompletableFuture()
                        .get(Patience.seconds(10), TimeUnit.SECONDS)
                        .cause())
                .isEqualTo(LeaseLoss.Cause.BROKEN);
        assertThat(bob.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aListingShowsHoldersAndWaitersButNoIdleCache() throws Exception {
        for (String name : List.of("jobs/a", "jobs/b", "other")) {
            alice.lock(name).acquire();
        }
        alice.lock("jobs/idle").acquire().close();
        assertThat(bob.admin().list("jobs/", Optional.empty(), 10).locks())
                .extracting(status -> status.key().name().toString())
                .containsExactly("jobs/a", "jobs/b");
    }

    @Test
    void theAttemptsOfAWaiterEndWithItsTime() throws Exception {
        Lease lease = alice.lock("a").acquire();
        CompletableFuture<Optional<Lease>> waiting = bob.lock("a").tryAcquireAsync(Duration.ofSeconds(3));
        world.advance(Duration.ofSeconds(2));
        assertThat(waiting).isNotDone();
        world.advance(Duration.ofSeconds(1));
        assertThat(waiting.get(Patience.seconds(10), TimeUnit.SECONDS)).isEmpty();
        lease.close();
        assertThat(alice.lock("a").tryAcquire()).isPresent();
    }

    @Test
    void aClosedClientFreesWhatItHeld() throws Exception {
        DistributedLock lock = bob.lock("a");
        Lease lease = alice.lock("a").acquire();
        alice.close();
        assertThat(lease.state()).isEqualTo(Lease.State.LOST);
        assertThat(lock.tryAcquire()).isPresent();
    }

    @Test
    void twoClocksDoNotFitIntoOneWorld() {
        assertThatThrownBy(() -> Locks.open(alice.url().toString().replace("manual", "real")))
                .hasMessageContaining("clock=manual");
    }
}
