// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.HeldAnswer;
import io.keyway.lock.tck.history.History;
import io.keyway.lock.tck.history.Interval;
import io.keyway.lock.tck.history.RecordedHold;
import io.keyway.lock.tck.history.Rules;
import io.keyway.lock.tck.history.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Hand-made histories: each rule fires where it must, and nowhere else. The ttl is 1,000; times are nanoseconds. */
class RulesTest {
    private static final long TTL = 1_000;

    private final List<RecordedHold> holds = new ArrayList<>();
    private final List<Silence> silences = new ArrayList<>();
    private boolean deathIsProven;
    private boolean caching;

    /**
     * A hold of "n" that was asked for at {@code at}, granted 1 later, and answered "held" at 2 and then until {@code
     * to}.
     */
    private RecordedHold held(String worker, LockMode mode, long token, long at, long to) {
        RecordedHold hold = new RecordedHold(worker, "n", mode, at);
        hold.granted(token, Duration.ofNanos(TTL), at + 1);
        hold.answered(new HeldAnswer(true, at + 1, at + 2, 750));
        hold.answered(new HeldAnswer(true, to, to + 1, 750));
        holds.add(hold);
        return hold;
    }

    private RecordedHold held(String worker, long token, long at, long to) {
        return held(worker, LockMode.EXCLUSIVE, token, at, to);
    }

    private static RecordedHold released(RecordedHold hold, long at, ReleaseOutcome outcome) {
        hold.releaseCalled(at);
        hold.released(outcome);
        return hold;
    }

    private static RecordedHold gone(RecordedHold hold, long at) {
        hold.answered(new HeldAnswer(false, at, at + 1, 0));
        return hold;
    }

    private static RecordedHold lost(RecordedHold hold, long at) {
        hold.lost(at, LeaseLoss.Cause.EXPIRED);
        return hold;
    }

    private List<String> broken() {
        return new WorkerHistory(new History(holds), silences, deathIsProven, caching)
                .violations().stream().map(Violation::rule).distinct().toList();
    }

    @Test
    void oneAfterTheOtherIsGood() {
        released(held("a", 1, 0, 100), 101, ReleaseOutcome.RELEASED);
        released(held("b", 2, 50, 200), 201, ReleaseOutcome.RELEASED);
        holds.get(1).answers().remove(0); // b waited
        holds.get(1).answers().add(0, new HeldAnswer(true, 102, 103, 750));
        lost(gone(held("a", 3, 210, 300), 1_000), 1_001);
        assertThat(broken()).isEmpty();
    }

    @Test
    void twoBelieversAtOnce() {
        held("a", 1, 0, 100);
        held("b", 2, 50, 200);
        assertThat(broken()).containsExactly("R1 authority exclusion", "R2 belief exclusion");
    }

    @Test
    void aShortBelieverWithinALongOneIsFoundAfterAThird() {
        held("a", LockMode.SHARED, 1, 0, 1_000);
        held("b", LockMode.SHARED, 2, 10, 20);
        held("c", 3, 500, 510);
        assertThat(broken()).containsExactly("R1 authority exclusion", "R2 belief exclusion");
    }

    @Test
    void readersShare() {
        held("a", LockMode.SHARED, 1, 0, 100);
        held("b", LockMode.SHARED, 2, 50, 200);
        assertThat(broken()).isEmpty();
    }

    @Test
    void aReaderBesideAWriter() {
        held("a", LockMode.EXCLUSIVE, 1, 0, 100);
        held("b", LockMode.SHARED, 2, 50, 200);
        assertThat(broken()).contains("R2 belief exclusion");
    }

    private RecordedHold permits(String worker, long token, int permits, int capacity, long at, long to) {
        RecordedHold hold = new RecordedHold(worker, "s", LockMode.PERMITS, permits, capacity, at);
        hold.granted(token, Duration.ofNanos(TTL), at + 1);
        hold.answered(new HeldAnswer(true, at + 1, at + 2, 750));
        hold.answered(new HeldAnswer(true, to, to + 1, 750));
        holds.add(hold);
        return hold;
    }

    @Test
    void permitsWithinTheirCapacity() {
        permits("a", 1, 2, 3, 0, 100);
        permits("b", 2, 1, 3, 10, 90);
        permits("c", 3, 1, 4, 20, 80); // in a larger view
        permits("d", 4, 3, 3, 101, 200);
        assertThat(broken()).isEmpty();
    }

    @Test
    void aPermitTooMany() {
        permits("a", 1, 2, 4, 0, 100);
        permits("b", 2, 2, 3, 10, 90);
        assertThat(broken()).containsExactly("R12 permits");
    }

    @Test
    void aPermitThatCameBackTwice() {
        released(permits("a", 1, 1, 2, 0, 10), 11, ReleaseOutcome.RELEASED);
        permits("b", 2, 1, 2, 5, 100);
        permits("c", 3, 1, 2, 20, 90);
        permits("d", 4, 1, 2, 30, 80);
        assertThat(broken()).containsExactly("R12 permits");
    }

    @Test
    void aReaderThatMayWriteWithoutAGap() {
        RecordedHold reader = held("a", LockMode.SHARED, 1, 0, 10);
        held("a", LockMode.EXCLUSIVE, 2, 50, 100);
        released(reader, 51, ReleaseOutcome.RELEASED);
        assertThat(broken()).isEmpty();
    }

    @Test
    void aWriterBetweenAReaderAndItsUpgrade() {
        RecordedHold reader = held("a", LockMode.SHARED, 1, 0, 10);
        held("b", LockMode.EXCLUSIVE, 2, 20, 30);
        held("a", LockMode.EXCLUSIVE, 3, 50, 100);
        released(reader, 51, ReleaseOutcome.RELEASED);
        assertThat(broken()).contains("R1 authority exclusion");
    }

    @Test
    void otherNamesAreOtherLocks() {
        held("a", 1, 0, 100);
        RecordedHold other = new RecordedHold("b", "m", LockMode.EXCLUSIVE, 10);
        other.granted(1, Duration.ofNanos(TTL), 11);
        other.answered(new HeldAnswer(true, 12, 13, 750));
        other.answered(new HeldAnswer(true, 90, 91, 750));
        holds.add(other);
        assertThat(broken()).isEmpty();
    }

    @Test
    void beliefIsNeverClaimedForLongerThanItWasSeen() {
        // The process was paused between the clock and the question, at both ends.
        RecordedHold hold = new RecordedHold("a", "n", LockMode.EXCLUSIVE, 0);
        hold.granted(1, Duration.ofNanos(TTL), 1);
        hold.answered(new HeldAnswer(true, 2, 500, 750));
        hold.answered(new HeldAnswer(true, 510, 2_000, 1));
        assertThat(hold.belief()).contains(new Interval(500, 510));
        hold.answers().remove(1);
        assertThat(hold.belief()).isEmpty();
    }

    @Test
    void aReleaseThatCountedProvesPossessionUntilItsCall() {
        // Between its last answer and its release, the first one was paused; another got the lock; the release still
        // said RELEASED.
        released(held("a", 1, 0, 100), 5_000, ReleaseOutcome.RELEASED);
        held("b", 2, 3_000, 3_100);
        assertThat(broken()).containsExactly("R1 authority exclusion");
        holds.clear();
        lost(released(held("a", 1, 0, 100), 5_000, ReleaseOutcome.ALREADY_LOST), 5_001);
        held("b", 2, 3_000, 3_100);
        assertThat(broken()).isEmpty();
        holds.clear();
        released(held("a", 1, 0, 100), 5_000, ReleaseOutcome.UNKNOWN);
        held("b", 2, 3_000, 3_100);
        assertThat(broken()).isEmpty();
    }

    @Test
    void aTokenTwice() {
        held("a", 7, 0, 10);
        held("b", 7, 20, 30);
        assertThat(broken()).containsExactly("R5 tokens");
    }

    @Test
    void aTokenThatFallsAfterARequest() {
        held("a", LockMode.SHARED, 7, 0, 10);
        held("b", LockMode.SHARED, 6, 20, 30);
        assertThat(broken()).containsExactly("R5 tokens");
    }

    @Test
    void tokensOfACacheRiseWhereTheirGrantsExcludeEachOther() {
        caching = true;
        held("a", LockMode.SHARED, 7, 0, 10);
        held("b", LockMode.SHARED, 6, 20, 30);
        assertThat(broken()).as("two readers").isEmpty();
        released(held("a", LockMode.EXCLUSIVE, 8, 40, 50), 51, ReleaseOutcome.RELEASED);
        assertThat(broken()).as("a writer after them").isEmpty();
        held("b", LockMode.SHARED, 5, 60, 70);
        assertThat(broken()).as("a reader below the writer before it").containsExactly("R5 tokens");
        holds.remove(holds.size() - 1);
        released(held("b", LockMode.SHARED, 12, 60, 70), 71, ReleaseOutcome.RELEASED);
        released(held("c", LockMode.SHARED, 9, 60, 70), 71, ReleaseOutcome.RELEASED);
        assertThat(broken()).as("two readers after it").isEmpty();
        held("a", LockMode.EXCLUSIVE, 10, 80, 90);
        assertThat(broken()).as("a writer below a reader before it").containsExactly("R5 tokens");
    }

    @Test
    void aTokenThatFallsThoughBothWereAskedForAtOnce() {
        RecordedHold first = held("a", 7, 0, 10);
        RecordedHold second = new RecordedHold("b", "n", LockMode.EXCLUSIVE, 0);
        second.granted(6, Duration.ofNanos(TTL), 20);
        second.answered(new HeldAnswer(true, 21, 22, 750));
        second.answered(new HeldAnswer(true, 30, 31, 750));
        holds.add(second);
        assertThat(broken()).containsExactly("R5 tokens");
        assertThat(new History(holds).violations(Rules.ALL))
                .singleElement()
                .satisfies(violation -> assertThat(violation.holds()).containsExactly(first, second));
    }

    @Test
    void readersThatAskTogetherHaveTokensInAnyOrder() {
        held("a", LockMode.SHARED, 7, 0, 10);
        held("b", LockMode.SHARED, 6, 0, 30);
        assertThat(broken()).isEmpty();
    }

    @Test
    void aDeadHoldersLockIsKeptForItsTtl() {
        // At 100, belief was to end at 850; so the authority counts until 1,100.
        held("a", 1, 0, 100);
        silences.add(new Silence("a", 110, Long.MAX_VALUE, true));
        held("b", 2, 1_090, 1_200);
        assertThat(broken()).containsExactly("R7 expiry bounds");
        deathIsProven = true;
        assertThat(broken()).isEmpty();
        deathIsProven = false;
        holds.remove(1);
        held("b", 2, 1_100, 1_200);
        assertThat(broken()).isEmpty();
    }

    @Test
    void whatADeadHolderHadReleasedOrLostIsFree() {
        released(held("a", 1, 0, 100), 105, ReleaseOutcome.RELEASED);
        silences.add(new Silence("a", 110, Long.MAX_VALUE, true));
        held("b", 2, 120, 200);
        assertThat(broken()).isEmpty();
        holds.clear();
        lost(held("a", 1, 0, 100), 108);
        held("b", 2, 120, 200);
        assertThat(broken()).isEmpty();
    }

    @Test
    void aStoppedHoldersLockIsKeptWhileItIsStopped() {
        deathIsProven = true; // not of a stopped one
        held("a", 1, 0, 100);
        silences.add(new Silence("a", 110, 500, false));
        RecordedHold other = held("b", 2, 300, 400);
        assertThat(broken()).containsExactly("R7 expiry bounds");
        holds.remove(other);
        held("b", 2, 600, 700);
        assertThat(broken()).isEmpty();
    }

    @Test
    void nobodyBelievesLongAfterItCouldBeHeard() {
        RecordedHold hold = held("a", 1, 0, 100);
        silences.add(new Silence("a", 110, 2_000, false));
        hold.answered(new HeldAnswer(true, 861, 862, 700));
        assertThat(broken()).containsExactly("R7 expiry bounds");
        hold.answers().set(2, new HeldAnswer(true, 2_010, 2_011, 700));
        assertThat(broken()).as("nor again after it").containsExactly("R7 expiry bounds");
        hold.answers().set(2, new HeldAnswer(true, 860, 861, 700));
        assertThat(broken()).isEmpty();
        silences.set(0, new Silence("a", 110, 700, false));
        hold.answers().set(2, new HeldAnswer(true, 2_010, 2_011, 700));
        assertThat(broken()).as("it was heard again in time").isEmpty();
    }

    @Test
    void whoLosesALeaseHasAQuarterOfTheTtlToStop() {
        // Its last answer says that its belief ends at 850.
        lost(gone(held("a", 1, 0, 100), 1_000), 1_001);
        held("b", 2, 1_070, 1_200);
        assertThat(broken()).containsExactly("R3 time to stop");
        holds.remove(1);
        held("b", 2, 1_090, 1_200);
        assertThat(broken()).isEmpty();
    }

    @Test
    void whoSaysThatItHasStoppedIsNotWaitedFor() {
        released(lost(gone(held("a", 1, 0, 100), 1_000), 1_001), 1_010, ReleaseOutcome.ALREADY_LOST);
        held("b", 2, 1_020, 1_200);
        assertThat(broken()).isEmpty();
    }

    @Test
    void aLossIsToldOnce() {
        RecordedHold hold = lost(gone(held("a", 1, 0, 100), 1_000), 1_001);
        assertThat(broken()).isEmpty();
        lost(hold, 1_002);
        assertThat(broken()).containsExactly("R9 loss is told");
    }

    @Test
    void aLossThatNobodyToldOf() {
        gone(held("a", 1, 0, 100), 1_000).untold();
        assertThat(broken()).containsExactly("R9 loss is told");
    }

    @Test
    void heldAgainAfterItWasNot() {
        RecordedHold hold = lost(gone(held("a", 1, 0, 100), 1_000), 1_001);
        hold.answered(new HeldAnswer(true, 1_010, 1_011, 700));
        assertThat(broken()).containsExactly("R9 loss is told");
    }

    @Test
    void heldAfterItsLossWasTold() {
        lost(held("a", 1, 0, 100), 50);
        assertThat(broken()).containsExactly("R9 loss is told");
    }

    @Test
    void lostAndReleasedAsIfNothingHadHappened() {
        released(gone(held("a", 1, 0, 100), 1_000), 1_100, ReleaseOutcome.RELEASED);
        assertThat(broken()).containsExactly("R9 loss is told");
    }

    @Test
    void moreBeliefThanALeaseCanGive() {
        RecordedHold hold = held("a", 1, 0, 100);
        hold.answers().set(1, new HeldAnswer(true, 100, 101, 751));
        assertThat(broken()).containsExactly("R9 loss is told");
    }

    /** One of the locks of a transaction, as {@link #held}. */
    private RecordedHold held(String worker, String name, long transaction, long token, long at, long to) {
        RecordedHold hold = new RecordedHold(worker, name, LockMode.EXCLUSIVE, 1, 1, transaction, at);
        hold.granted(token, Duration.ofNanos(TTL), at + 1);
        hold.answered(new HeldAnswer(true, at + 1, at + 2, 0));
        hold.answered(new HeldAnswer(true, to, to + 1, 0));
        holds.add(hold);
        return hold;
    }

    @Test
    void transactionsThatFollowEachOtherInEachOfTheirLocks() {
        released(held("a", "n", 1, 1, 0, 100), 101, ReleaseOutcome.RELEASED);
        released(held("a", "m", 1, 1, 10, 100), 101, ReleaseOutcome.RELEASED);
        released(held("b", "m", 1, 2, 102, 200), 250, ReleaseOutcome.RELEASED);
        released(held("b", "n", 1, 2, 103, 200), 260, ReleaseOutcome.RELEASED);
        // Another transaction of the same worker loses all of its locks.
        lost(gone(held("a", "n", 2, 3, 300, 400), 1_200), 1_201);
        lost(gone(held("a", "m", 2, 3, 300, 400), 1_200), 1_201);
        held("a", "k", 3, 1, 1_300, 1_400);
        assertThat(broken()).isEmpty();
    }

    @Test
    void anOverlapInOneOfTheLocksOfTwoTransactions() {
        held("a", "n", 1, 1, 0, 100);
        held("a", "m", 1, 1, 0, 100);
        held("b", "m", 1, 2, 90, 200); // before a gave it back
        held("b", "n", 1, 2, 102, 200);
        assertThat(broken()).containsExactly("R1 authority exclusion", "R2 belief exclusion");
    }

    @Test
    void whatAnAbortedTransactionGivesBackWasItsOwnUntilThen() {
        // It was told of nothing after 100, and its undoing ends with a release at 150 that counted.
        released(held("a", "n", 1, 1, 0, 100), 150, ReleaseOutcome.RELEASED);
        held("b", "n", 1, 2, 120, 200);
        assertThat(broken()).containsExactly("R1 authority exclusion");
    }

    @Test
    void aLockThatIsHeldAfterAnotherOfItsTransactionWasLost() {
        lost(held("a", "n", 1, 1, 0, 100), 500);
        RecordedHold other = held("a", "m", 1, 1, 0, 100);
        assertThat(broken()).isEmpty();
        other.answered(new HeldAnswer(true, 501, 502, 0));
        assertThat(broken()).containsExactly("R9 loss of all");
    }

    @Test
    void aLockThatIsHeldAfterAnotherOfItsTransactionWasGone() {
        RecordedHold first = gone(held("a", "n", 1, 1, 0, 100), 500);
        RecordedHold other = held("a", "m", 1, 1, 0, 100);
        other.answered(new HeldAnswer(true, 502, 503, 0));
        assertThat(broken()).containsExactly("R9 loss of all");
        first.answers().clear();
        released(first, 499, ReleaseOutcome.RELEASED);
        assertThat(broken()).as("it was given back before the others").isEmpty();
    }

    @Test
    void ofATransactionNobodyKnowsHowMuchIsLeft() {
        // The deadline may have been long before it was told; R3 knows it of single leases alone.
        lost(gone(held("a", "n", 1, 1, 0, 100), 340), 341);
        held("b", "n", 1, 2, 342, 400);
        assertThat(broken()).isEmpty();
    }

    @Test
    void anErrorShowsWhatHappenedAround() {
        held("a", 1, 0, 100);
        held("b", 2, 50, 200);
        silences.add(new Silence("a", 110, Long.MAX_VALUE, true));
        assertThatThrownBy(() -> new WorkerHistory(new History(holds), silences, false, false).check("seed 5"))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("seed 5: ")
                .hasMessageContaining("R2 belief exclusion: two had n at once")
                .hasMessageContaining("a n exclusive asked 0.000 got token 1")
                .hasMessageContaining("a killed");
    }

    @Test
    void clocksThatDoNotCompareAreRefused() {
        MachineClock.check(1, 1, 2);
        assertThatThrownBy(() -> MachineClock.check(1, 3, 2)).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> MachineClock.check(2, 1, 3))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("does not compare");
    }
}
