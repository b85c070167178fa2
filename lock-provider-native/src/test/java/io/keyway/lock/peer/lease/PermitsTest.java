// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.PERMITS;
import static io.keyway.lock.peer.lease.ManagerWorld.MS;
import static io.keyway.lock.peer.lease.ManagerWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.service.Buckets;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.peer.service.SharedGoal;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Permits at their manager: whose turn it is where views of the capacity differ, caches, restarts. */
class PermitsTest {
    private final ManagerWorld world = new ManagerWorld(Admission.SEMAPHORES);
    private final ManagerWorld.Client a = world.client();
    private final ManagerWorld.Client b = world.client();
    private final ManagerWorld.Client c = world.client();

    @Test
    void aWaiterIsPassedByThoseAloneWhoSeeMoreThanAllWhoWereRefusedBefore() {
        long all = a.token(a.wants(4, 4));
        long two = b.wants(1, 2);
        long four = b.wants(2, 4);
        long three = b.wants(1, 3);
        long six = c.wants(2, 6);
        long five = c.wants(1, 5);
        a.denies(all);
        assertThat(c.token(six)).as("it sees more").isPositive();
        assertThat(c.token(five)).isZero();
        assertThat(b.token(two) + b.token(four) + b.token(three)).isZero();
        assertThat(world.goals).contains(SharedGoal.PASSED_BY_A_LARGER_VIEW);

        a.release(all);
        assertThat(b.token(four)).as("two are out, and it sees four").isPositive();
        assertThat(b.token(two)).as("it sees two").isZero();
        assertThat(b.token(three)).as("it sees three, and four are out").isZero();
        assertThat(c.token(five)).as("it sees more than those who are refused").isPositive();
        c.release(c.token(six));
        assertThat(b.token(three)).isZero();
        b.release(b.token(four));
        assertThat(b.token(two)).isPositive();
        assertThat(b.token(three)).isPositive();
    }

    @Test
    void aLargeRequestIsNotStarvedBySmallOnesOfTheSameView() {
        long one = a.token(a.wants(1, 3));
        long large = b.wants(3, 3);
        for (int i = 0; i < 20; i++) {
            assertThat(c.token(c.wants(1, 3))).isZero();
            assertThat(c.refused(c.tries(1, 3))).isTrue();
        }
        a.release(one);
        assertThat(b.token(large)).isPositive();
    }

    @Test
    void whoNeverFitsInItsOwnViewHoldsUpItsEqualsOnly() {
        long never = a.wants(5, 3);
        long equal = b.wants(1, 3);
        long larger = b.wants(1, 4);
        assertThat(a.token(never)).isZero();
        assertThat(b.token(equal)).isZero();
        assertThat(b.token(larger)).isPositive();
        a.withdraws(never);
        assertThat(b.token(equal)).isPositive();
    }

    @Test
    void aWaiterThatIsNotHeardHoldsNobodyUp() {
        long all = a.token(a.wants(3, 3));
        long silent = b.wants(3, 3);
        long small = c.wants(1, 3);
        world.advance(TTL * 5 / 8);
        a.beat();
        c.beat();
        a.release(all);
        assertThat(c.token(small)).isPositive();
        c.release(c.token(small));
        b.beat();
        assertThat(b.token(silent)).isPositive();
    }

    @Test
    void whoDoesNotWaitTakesAsManyIdlePermitsAsItNeeds() {
        long first = a.token(a.wants(2, 4));
        long second = a.token(a.wants(1, 4));
        long third = b.token(b.wants(1, 4));
        long hopeful = c.tries(2, 4);
        assertThat(a.recalls()).containsExactly(first, second);
        a.denies(first);
        assertThat(c.refused(hopeful)).as("two may still come back").isFalse();
        a.accepts(second);
        assertThat(c.token(hopeful)).isZero();
        b.accepts(third);
        assertThat(c.token(hopeful)).isPositive();
        assertThat(c.last(LockMessage.Granted.class).out()).isEqualTo(4);
        long refused = b.tries(2, 4);
        a.denies(first);
        c.denies(c.token(hopeful));
        assertThat(b.refused(refused)).isTrue();
    }

    @Test
    void enoughThatAreInUseRefuseBeforeAllHaveAnswered() {
        long first = a.token(a.wants(2, 4));
        b.wants(2, 4);
        long hopeful = c.tries(3, 4);
        a.denies(first);
        assertThat(c.refused(hopeful)).isTrue();
        assertThat(world.goals).contains(SharedGoal.ENOUGH_DENIED);
    }

    @Test
    void aLargerViewIsGrantedWhenThoseWithASmallerOneCanTakeNothingFromTheirCaches() {
        long small = a.token(a.wants(1, 2));
        long other = a.token(a.wants(1, 2));
        long larger = b.tries(1, 6);
        assertThat(a.recalls()).containsExactly(small, other);
        assertThat(b.token(larger))
                .as("a could take both again, for a user who sees two")
                .isZero();
        a.denies(small);
        assertThat(b.token(larger)).isZero();
        a.accepts(other);
        assertThat(b.token(larger)).as("two are out").isPositive();
        long third = b.tries(1, 6);
        assertThat(b.token(third)).as("what is in use goes straight back").isPositive();
        long waits = c.wants(1, 6);
        assertThat(c.token(waits)).isPositive();
        assertThat(a.recalls()).hasSize(2);
        assertThat(world.goals).contains(SharedGoal.NARROW_CACHES_ASKED);
    }

    @Test
    void aLargerViewWaitsNoLongerForASmallerOnesCacheThanForItsLease() {
        a.wants(1, 1);
        long waits = b.wants(1, 6);
        long hopeful = c.tries(1, 6);
        world.advance(500 * MS);
        assertThat(c.refused(hopeful)).isTrue();
        for (int i = 0; i < 4; i++) {
            assertThat(b.token(waits)).isZero();
            world.advance(TTL / 4);
            b.beat();
        }
        assertThat(b.token(waits)).isPositive();
    }

    @Test
    void aDenialThatCrossesItsReleaseIsAboutAGrantThatIsOver() {
        long first = a.token(a.wants(2, 2));
        long hopeful = b.tries(2, 2);
        a.release(first);
        assertThat(b.token(hopeful)).isPositive();
        a.denies(first);
        assertThat(b.refused(hopeful)).isFalse();
        long waits = a.wants(1, 2);
        assertThat(b.recalls()).containsExactly(b.token(hopeful));
        b.denies(b.token(hopeful));
        b.release(b.token(hopeful));
        assertThat(a.token(waits)).isPositive();
    }

    @Test
    void theGrantTellsHowManyAreOutAndTheStatusWhatIsInUse() {
        a.wants(2, 6);
        b.wants(3, 6);
        assertThat(a.last(LockMessage.Granted.class).out()).isEqualTo(2);
        assertThat(b.last(LockMessage.Granted.class).out()).isEqualTo(5);
        LockMessage.Status status = c.shown();
        assertThat(status.out()).isEqualTo(5);
        assertThat(status.perResource())
                .as("of a capacity of six, two resources")
                .isEqualTo(3);
        assertThat(Buckets.of(status.out(), status.perResource())).containsExactly(3, 2);
    }

    @Test
    void bucketsAreFilledFromTheLowest() {
        assertThat(Buckets.of(0, 3)).isEmpty();
        assertThat(Buckets.of(3, 3)).containsExactly(3);
        assertThat(Buckets.of(4, 3)).containsExactly(3, 1);
        assertThat(Buckets.of(7, 0))
                .as("nobody has said how many a resource has")
                .isEmpty();
        assertThat(Buckets.of(Integer.MAX_VALUE, 1 << 30)).containsExactly(1 << 30, (1 << 30) - 1);
        List<Integer> all = Buckets.of(10 * Buckets.MOST - 1, 10);
        assertThat(all).hasSize(Buckets.MOST).endsWith(10, 9);
        assertThat(all.stream().mapToInt(each -> each).sum()).isEqualTo(10 * Buckets.MOST - 1);
    }

    @Test
    void ofBucketsThatNobodyCouldReadThereIsNoList() {
        assertThat(Buckets.of(10 * Buckets.MOST + 1, 10)).isEmpty();
        assertThat(Buckets.of(Integer.MAX_VALUE, 1)).isEmpty();
    }

    @Test
    void aCleanEndHandsPermitsOverWithTheirNumbersAndImportedOnesCount() {
        long two = a.token(a.wants(2, 3));
        long one = b.token(b.wants(1, 3));
        world.handOver();
        a.connect();
        b.deaf();
        c.connect();
        a.reasserts(PERMITS, 2, two);
        long waits = c.wants(1, 3);
        assertThat(c.token(waits)).isZero();
        long larger = c.wants(1, 4);
        assertThat(c.token(larger)).as("b may take its own from its cache").isZero();
        world.disown(one);
        assertThat(c.token(waits)).as("two are out, and it sees three").isPositive();
        assertThat(c.token(larger)).as("three are out, and it sees four").isGreaterThan(c.token(waits));
        a.release(two);
    }

    @Test
    void permitsOfDifferentNumbersAreKeptAtLeastEachForItsTime() {
        LockMessage.Acquire kept = a.request(PERMITS, 2, 3, false, 400 * MS, 0);
        a.say(kept);
        a.release(a.token(kept.request()));
        long waits = b.wants(2, 3);
        assertThat(b.token(waits)).isZero();
        assertThat(c.token(c.wants(1, 3))).as("behind b").isZero();
        world.advance(400 * MS);
        assertThat(b.token(waits)).isPositive();
    }

    @Test
    void noMoreWaitThanMay() {
        LockSettings two = new LockSettings(true, TTL, 10, false, 2, false);
        ManagerWorld crowded = new ManagerWorld(Admission.SEMAPHORES, two);
        ManagerWorld.Client holder = crowded.client();
        ManagerWorld.Client other = crowded.client();
        holder.wants(3, 3);
        other.wants(1, 3);
        other.wants(1, 2);
        long third = other.wants(1, 1);
        assertThat(other.last(LockMessage.NotGranted.class))
                .extracting(LockMessage.NotGranted::request, LockMessage.NotGranted::cause)
                .containsExactly(third, RefusalCause.CROWDED);
    }

    @Test
    void manyWaitersOfManyViewsAreServedWithoutLookingAtAllOfThem() {
        world.withoutCopies();
        long all = a.token(a.wants(1_000, 1_000));
        LockMessage[] small = IntStream.range(0, 5_000)
                .mapToObj(i -> b.request(PERMITS, 1, 1 + i % 5, false, 0, 0))
                .toArray(LockMessage[]::new);
        b.say(small);
        assertThat(b.all(LockMessage.Granted.class)).isEmpty();
        a.release(all);
        assertThat(b.all(LockMessage.Granted.class))
                .extracting(LockMessage.Granted::out)
                .containsExactly(1, 2, 3, 4, 5);
    }
}
