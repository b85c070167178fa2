// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockOptions;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.reference.Verb;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One lease gives way to one of the other mode, without a gap. */
class UpgradeTest extends ReferenceClients {

    private static final Duration NOW = Duration.ZERO;
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private LockClient a;
    private LockClient b;
    private DistributedReadWriteLock ours;
    private DistributedReadWriteLock theirs;

    @BeforeEach
    void openClients() {
        a = open("a");
        b = open("b");
        ours = a.readWriteLock("x");
        theirs = b.readWriteLock("x");
    }

    @Test
    void theOnlyReaderBecomesTheWriterAndAReaderAgain() throws Exception {
        Lease read = ours.read()
                .with(LockOptions.none().withTtl(Duration.ofSeconds(3)).withMetadata(Map.of("k", "v")))
                .acquire();
        Lease write = ours.tryUpgrade(read, NOW).orElseThrow();
        assertThat(read.state()).isEqualTo(Lease.State.RELEASED);
        assertThat(read.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(read.lost().toCompletableFuture()).isNotDone();
        assertThat(write.mode()).isEqualTo(LockMode.EXCLUSIVE);
        assertThat(write.token()).isGreaterThan(read.token());
        assertThat(write.ttl()).isEqualTo(read.ttl());
        assertThat(theirs.read().tryAcquire()).isEmpty();
        time(a).advance(MINUTE);
        assertThat(write.isHeld()).as("renewed").isTrue();
        Lease again = ours.downgrade(write);
        assertThat(write.state()).isEqualTo(Lease.State.RELEASED);
        assertThat(again.token()).isGreaterThan(write.token());
        assertThat(theirs.write().tryAcquire()).isEmpty();
        Lease other = theirs.read().tryAcquire().orElseThrow();
        time(a).advance(MINUTE);
        assertThat(again.isHeld()).isTrue();
        assertThat(a.admin().show(key("x")).orElseThrow().holders())
                .anySatisfy(holder -> assertThat(holder.metadata()).isEqualTo(Map.of("k", "v")));
        other.close();
        again.close();
        assertEmpty(a);
    }

    @Test
    void anUpgradeWaitsForOtherReadersBeforeAllWhoQueue() throws Exception {
        Lease read = ours.read().acquire();
        Lease other = theirs.read().acquire();
        Running<Lease> writer = inThread(() -> theirs.write().acquire());
        awaitWaiters(a, "x", 1);
        assertThat(ours.tryUpgrade(read, NOW)).as("others read").isEmpty();
        assertThat(read.isHeld()).isTrue();
        Running<Optional<Lease>> upgrade = inThread(() -> ours.tryUpgrade(read, MINUTE));
        awaitWaiters(a, "x", 2);
        assertThat(theirs.read().tryAcquire()).as("no reader passes it").isEmpty();
        time(a).advance(Duration.ofSeconds(20));
        assertThat(read.isHeld()).as("renewed while it waits").isTrue();
        other.close();
        Lease write = upgrade.get().orElseThrow();
        assertThat(read.state()).isEqualTo(Lease.State.RELEASED);
        assertThat(writer.result()).isNotDone();
        write.close();
        writer.get().close();
        assertEmpty(a);
    }

    @Test
    void ofTwoThatWantItTheSecondIsRefusedAtOnce() throws Exception {
        Lease read = ours.read().acquire();
        Lease other = theirs.read().acquire();
        Running<Optional<Lease>> first = inThread(() -> ours.tryUpgrade(read, MINUTE));
        awaitWaiters(a, "x", 1);
        assertThat(theirs.tryUpgrade(other, MINUTE)).isEmpty();
        assertThat(ours.tryUpgrade(read, MINUTE)).as("the same lease, twice").isEmpty();
        assertThat(other.isHeld()).isTrue();
        other.close();
        first.get().orElseThrow().close();
        assertEmpty(a);
    }

    @Test
    void oneThatIsNotGrantedInTimeOrInterruptedLeavesTheReadLease() throws Exception {
        Lease read = ours.read().acquire();
        Lease other = theirs.read().acquire();
        Running<Optional<Lease>> late = inThread(() -> ours.tryUpgrade(read, Duration.ofSeconds(5)));
        awaitWaiters(a, "x", 1);
        time(a).advance(Duration.ofSeconds(5));
        assertThat(late.get()).isEmpty();
        Running<Optional<Lease>> interrupted = inThread(() -> ours.tryUpgrade(read, MINUTE));
        awaitWaiters(a, "x", 1);
        interrupted.thread().interrupt();
        assertThatThrownBy(interrupted::get).hasRootCauseInstanceOf(InterruptedException.class);
        awaitWaiters(a, "x", 0);
        time(a).advance(MINUTE);
        assertThat(read.isHeld()).isTrue();
        other.close();
        read.close();
        assertEmpty(a);
    }

    @Test
    void aLostAnswerIsAskedForAgain() throws Exception {
        Lease read = ours.read().acquire();
        faults(a).dropReplies(Verb.ATTEMPT, 3);
        Running<Optional<Lease>> upgrade = inThread(() -> ours.tryUpgrade(read, MINUTE));
        await().atMost(PATIENCE)
                .until(() -> theirs.read().tryAcquire().map(this::given).isEmpty());
        time(a).advance(Duration.ofSeconds(1));
        Lease write = upgrade.get().orElseThrow();
        assertThat(read.state()).isEqualTo(Lease.State.RELEASED);
        write.close();
        assertEmpty(a);
    }

    @Test
    void oneWhoseAnswerNeverComesIsUndoneAndTheReadLeaseStays() throws Exception {
        Lease read = ours.read().acquire();
        faults(a).dropReplies(Verb.ATTEMPT, 1000);
        Running<Optional<Lease>> upgrade = inThread(() -> ours.tryUpgrade(read, Duration.ofSeconds(6)));
        await().atMost(PATIENCE)
                .until(() -> theirs.read().tryAcquire().map(this::given).isEmpty());
        time(a).advance(Duration.ofSeconds(6));
        assertThatThrownBy(upgrade::get).hasMessageContaining("No answer about");
        time(a).advance(MINUTE);
        assertThat(read.state()).isEqualTo(Lease.State.HELD);
        theirs.read().tryAcquire().orElseThrow().close();
        read.close();
        assertEmpty(a);
    }

    @Test
    void aReadLeaseThatEndsTakesItsUpgradeWithIt() throws Exception {
        Lease read = ours.read().acquire();
        Lease other = theirs.read().acquire();
        Running<Optional<Lease>> upgrade = inThread(() -> ours.tryUpgrade(read, MINUTE));
        awaitWaiters(a, "x", 1);
        assertThat(read.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThatThrownBy(upgrade::get).hasRootCauseInstanceOf(IllegalStateException.class);
        other.close();
        assertEmpty(a);

        Lease lost = ours.read().acquire();
        Lease second = theirs.read().acquire();
        Running<Optional<Lease>> waiting = inThread(() -> ours.tryUpgrade(lost, MINUTE));
        awaitWaiters(a, "x", 1);
        assertThat(b.admin().breakLease(key("x"), lost.token(), "test")).isTrue();
        assertThatThrownBy(waiting::get).hasRootCauseInstanceOf(LeaseLostException.class);
        second.close();
        assertEmpty(a);
    }

    @Test
    void closingTheClientEndsAnUpgrade() throws Exception {
        Lease read = ours.read().acquire();
        Lease other = theirs.read().acquire();
        Running<Optional<Lease>> upgrade = inThread(() -> ours.tryUpgrade(read, MINUTE));
        awaitWaiters(b, "x", 1);
        a.close();
        assertThatThrownBy(upgrade::get).hasRootCauseInstanceOf(ClientClosedException.class);
        assertThat(read.state()).isEqualTo(Lease.State.LOST);
        other.close();
        assertEmpty(b);
    }

    @Test
    void aDowngradeWithoutAnAnswerGivesTheLockBack() throws Exception {
        Lease write = ours.write().acquire();
        faults(a).dropReplies(Verb.ATTEMPT, 1000);
        Running<Lease> downgrade = inThread(() -> ours.downgrade(write));
        await().atMost(PATIENCE)
                .until(() -> theirs.read().tryAcquire().map(this::given).isPresent());
        assertThat(write.isHeld()).as("others may read already").isFalse();
        time(a).advance(Duration.ofSeconds(2));
        assertThatThrownBy(downgrade::get).hasCauseInstanceOf(OutcomeUnknownException.class);
        assertThat(write.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
        time(a).advance(Duration.ofSeconds(3));
        assertEmpty(a);
    }

    @Test
    void aDowngradeOfWhatTheStoreHasForgottenIsALoss() throws Exception {
        Lease write = ours.write().acquire();
        store(a).forgetAll();
        assertThatThrownBy(() -> ours.downgrade(write)).isInstanceOf(LeaseLostException.class);
        assertThat(write.state()).isEqualTo(Lease.State.LOST);
        Lease read = ours.read().acquire();
        store(a).forgetAll();
        assertThatThrownBy(() -> {
                    assertThat(ours.tryUpgrade(read, NOW)).isEmpty();
                    read.ensureHeld();
                })
                .isInstanceOf(LeaseLostException.class);
    }

    @Test
    void onlyALeaseOfThisLockClientAndModeWillDo() throws Exception {
        Lease read = ours.read().acquire();
        Lease elsewhere = a.readWriteLock("y").read().acquire();
        for (Lease wrong : List.of(elsewhere, theirs.read().acquire())) {
            assertThatThrownBy(() -> ours.tryUpgrade(wrong, NOW)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> ours.downgrade(read)).isInstanceOf(IllegalArgumentException.class);
        read.close();
        assertThatThrownBy(() -> ours.tryUpgrade(read, NOW)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void withoutTheFeatureNothingIsSent() throws Exception {
        LockClient plain =
                open(manual + "&without=upgrade", ClientOptions.defaults().withName("plain"));
        DistributedReadWriteLock both = plain.readWriteLock("x");
        Lease read = both.read().acquire();
        long attempts = store(plain).attempts();
        assertThatThrownBy(() -> both.tryUpgrade(read, NOW)).isInstanceOf(UnsupportedFeatureException.class);
        assertThatThrownBy(() -> both.downgrade(read)).isInstanceOf(UnsupportedFeatureException.class);
        assertThat(store(plain).attempts()).isEqualTo(attempts);
    }

    private Lease given(Lease lease) {
        lease.close();
        return lease;
    }
}
