// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.EXCLUSIVE;
import static io.keyway.lock.LockMode.SHARED;
import static io.keyway.lock.peer.lease.ManagerWorld.KEY;
import static io.keyway.lock.peer.lease.ManagerWorld.MS;
import static io.keyway.lock.peer.lease.ManagerWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.SharedGoal;
import io.keyway.lock.peer.service.Tokens;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Several grants that may lie idle in caches: each is recalled, denied, broken, expired and kept for itself. */
class SharedCachesTest extends ThreeClients {
    @Test
    void readersThatNobodyWaitsForHaveRangesThatDoNotOverlap() {
        a.has(SHARED);
        b.has(SHARED);
        LockMessage.Granted first = a.last(LockMessage.Granted.class);
        LockMessage.Granted second = b.last(LockMessage.Granted.class);
        assertThat(first.hi()).isGreaterThan(first.token());
        assertThat(second.token()).isGreaterThan(first.hi());
        assertThat(first.wanted() || second.wanted()).isFalse();
        assertThat(world.goals).contains(SharedGoal.JOINED);
    }

    @Test
    void rangesThatStandBesideEachOtherShrinkSoThatTheCounterLasts() {
        long highest = 0;
        long grants = 0;
        long range = Tokens.RANGE;
        for (; range > 1; grants++) {
            range = Tokens.range(highest);
            highest += range;
        }
        assertThat(highest).isLessThan(Tokens.MAX_COUNTER);
        assertThat(grants).isGreaterThan(300_000);
    }

    @Test
    void aWriterHasEachReadersCacheRecalledOnceAndOneRecallIsEnoughForAllWhoWait() {
        long first = a.has(SHARED);
        long second = b.has(SHARED);
        long third = b.has(SHARED);
        long writer = c.wants(EXCLUSIVE);
        long other = a.wants(EXCLUSIVE);
        assertThat(a.recalls()).containsExactly(first);
        assertThat(b.recalls()).containsExactly(second, third);
        assertThat(a.last(LockMessage.Recall.class).asks()).isFalse();
        a.accepts(first);
        b.release(third);
        assertThat(c.token(writer)).isZero();
        b.accepts(second);
        assertThat(c.token(writer)).isPositive();
        c.release(c.token(writer));
        assertThat(a.token(other)).isPositive();
        assertThat(world.goals).contains(SharedGoal.SEVERAL_RECALLED);
    }

    @Test
    void aReaderThatWaitsRecallsNoOtherReader() {
        long reader = a.has(SHARED);
        long hopeful = b.tries(EXCLUSIVE);
        assertThat(a.recalls()).containsExactly(reader);
        long waits = c.wants(SHARED);
        assertThat(c.token(waits)).as("behind who asks").isZero();
        assertThat(a.recalls()).containsExactly(reader);
        a.denies(reader);
        assertThat(b.refused(hopeful)).isTrue();
        assertThat(c.token(waits)).as("its way is free then").isPositive();
    }

    @Test
    void whoDoesNotWaitIsGrantedWhenAllIdleCachesHaveComeBack() {
        long first = a.has(SHARED);
        long second = a.has(SHARED);
        long third = b.has(SHARED);
        long writer = c.tries(EXCLUSIVE);
        assertThat(a.last(LockMessage.Recall.class).asks()).isTrue();
        a.accepts(first);
        b.accepts(third);
        assertThat(c.token(writer)).isZero();
        assertThat(c.refused(writer)).isFalse();
        a.accepts(second);
        assertThat(c.token(writer)).isPositive();
        assertThat(world.goals).contains(LockGoal.NO_WAIT_THROUGH_IDLE_CACHE);
    }

    @Test
    void oneReaderThatUsesItsGrantRefusesWhoDoesNotWaitAtOnce() {
        a.has(SHARED);
        long second = b.has(SHARED);
        long writer = c.tries(EXCLUSIVE);
        b.denies(second);
        assertThat(c.refused(writer)).isTrue();
        assertThat(c.holdersToldTo(writer)).hasSize(2);
        assertThat(world.goals).contains(SharedGoal.ENOUGH_DENIED);
    }

    @Test
    void aReaderThatCannotCacheIsNotAskedAndRefusesAtOnce() {
        long before = a.has(SHARED);
        long waits = b.wants(EXCLUSIVE);
        a.release(before);
        long reader = a.wants(SHARED);
        b.release(b.token(waits));
        long single = a.token(reader);
        assertThat(a.last(LockMessage.Granted.class).hi())
                .as("they took it from each other just now")
                .isEqualTo(single);
        assertThat(c.refused(c.tries(EXCLUSIVE))).isTrue();
    }

    @Test
    void aReaderThatDoesNotWaitIsRefusedByAWriterThatDoesNotByItsAnswer() {
        long reader = a.has(SHARED);
        long writer = b.tries(EXCLUSIVE);
        long other = c.tries(SHARED);
        assertThat(c.refused(other)).as("the writer has no answer yet").isFalse();
        assertThat(world.goals).contains(SharedGoal.NO_WAIT_BEHIND_NO_WAIT);
        a.denies(reader);
        assertThat(b.refused(writer)).isTrue();
        assertThat(c.token(other)).as("only readers hold").isPositive();

        long last = b.tries(EXCLUSIVE);
        long refused = a.tries(SHARED);
        a.accepts(reader);
        c.accepts(c.token(other));
        assertThat(b.token(last)).isPositive();
        assertThat(a.refused(refused)).isTrue();
    }

    @Test
    void aReaderWhoseClientIsGoneIsWaitedForAsLongAsThePatienceIs() {
        a.has(SHARED);
        long second = b.has(SHARED);
        long writer = c.tries(EXCLUSIVE);
        long behind = b.wants(SHARED);
        b.accepts(second);
        world.advance(500 * MS - 1);
        assertThat(c.refused(writer)).isFalse();
        world.advance(1);
        assertThat(c.refused(writer)).isTrue();
        assertThat(b.token(behind)).isPositive();
    }

    @Test
    void eachQuestionCountsItsOwnAnswerOfEachGrant() {
        long first = a.has(SHARED);
        long second = b.has(SHARED);
        long one = c.tries(EXCLUSIVE);
        long two = c.tries(EXCLUSIVE);
        a.accepts(first);
        b.denies(second);
        assertThat(c.refused(one)).isTrue();
        assertThat(c.refused(two)).as("it has an answer of its own").isFalse();
        b.accepts(second);
        assertThat(c.token(two)).isPositive();
    }

    @Test
    void recallsWaitForTheNextFrameOfEachHolderIfThatIsSaid() {
        ManagerWorld later =
                new ManagerWorld(Admission.LOCKS, LockSettings.defaults().withRecallAtRenewal());
        ManagerWorld.Client x = later.client();
        ManagerWorld.Client y = later.client();
        long first = x.has(SHARED);
        long second = x.has(SHARED);
        long writer = y.tries(EXCLUSIVE);
        assertThat(x.recalls()).isEmpty();
        x.beat();
        assertThat(x.recalls()).containsExactly(first, second);
        x.accepts(first);
        x.denies(second);
        assertThat(y.refused(writer)).isTrue();
    }

    @Test
    void aBreakEndsOneReaderOfSeveralAndTheWriterWaitsForTheRest() {
        long first = a.has(SHARED);
        long second = a.has(SHARED);
        long writer = b.wants(EXCLUSIVE);
        c.breaks(second + 3);
        assertThat(a.last(LockMessage.Revoke.class).token()).isEqualTo(second + 3);
        a.say(new LockMessage.Revoked(KEY, second + 3, second, second + 3));
        a.doesNotTake(second);
        assertThat(c.last(LockMessage.Answer.class).done()).isTrue();
        c.breaks(second);
        assertThat(c.last(LockMessage.Answer.class).done()).isFalse();
        assertThat(b.token(writer)).isZero();
        a.release(first);
        assertThat(b.token(writer)).isGreaterThan(second + 3);
    }

    @Test
    void aBreakOfAGrantThatNobodyHasClaimedReachesWhoeverClaimsIt() {
        long own = a.has(EXCLUSIVE);
        world.handOver();
        c.connect();
        c.breaks(own);
        a.connect();
        a.reasserts(EXCLUSIVE, 1, own);
        assertThat(a.all(LockMessage.Revoke.class))
                .extracting(LockMessage.Revoke::token, LockMessage.Revoke::cause, LockMessage.Revoke::reason)
                .containsExactly(tuple(own, LeaseLoss.Cause.BROKEN, "a test"));
        assertThat(c.all(LockMessage.Answer.class)).isEmpty();
        a.revoked(own, own);
        assertThat(c.last(LockMessage.Answer.class).done()).isTrue();
    }

    @Test
    void grantsOfOneSessionExpireEachByItsOwnTtl() {
        LockMessage.Acquire brief = shorter(a.request(SHARED, 1, 1, false, 0, 0));
        a.say(brief);
        long lasting = a.has(SHARED);
        long writer = b.wants(EXCLUSIVE);
        for (int i = 0; i < 4; i++) {
            world.advance(TTL / 16);
            b.beat();
        }
        assertThat(a.all(LockMessage.Revoke.class))
                .extracting(LockMessage.Revoke::token)
                .containsExactly(a.token(brief.request()));
        for (int i = 0; i < 12; i++) {
            assertThat(b.token(writer)).isZero();
            world.advance(TTL / 16);
            b.beat();
        }
        assertThat(a.last(LockMessage.Revoke.class).token()).isEqualTo(lasting);
        assertThat(b.token(writer)).isPositive();
    }

    private static LockMessage.Acquire shorter(LockMessage.Acquire of) {
        return new LockMessage.Acquire(
                of.key(),
                of.request(),
                of.mode(),
                of.permits(),
                of.capacity(),
                of.perResource(),
                TTL / 4,
                of.noWait(),
                of.wantPlace(),
                of.cache(),
                of.waited(),
                of.patience(),
                of.atLeast(),
                of.converts(),
                of.quiet(),
                of.owner());
    }

    @Test
    void aKeptPlaceOfAReaderLetsReadersInAndKeepsWritersOut() {
        long kept = a.token(a.wantsAtLeast(SHARED, 400 * MS));
        a.release(kept);
        assertThat(b.has(SHARED)).isPositive();
        b.release(b.token(2));
        long writer = c.wants(EXCLUSIVE);
        assertThat(b.refused(b.tries(EXCLUSIVE))).isTrue();
        world.advance(400 * MS - 1);
        assertThat(c.token(writer)).isZero();
        world.advance(1);
        assertThat(c.token(writer)).isPositive();
    }

    @Test
    void afterACrashReadersAndAWaitingWriterComeToTheSameAgain() {
        long first = a.has(SHARED);
        long second = b.has(SHARED);
        world.crash();
        a.connect();
        b.connect();
        c.connect();
        long writer = c.wants(EXCLUSIVE);
        a.reasserts(SHARED, 1, first);
        b.reasserts(SHARED, 1, second);
        for (int i = 0; i < 16; i++) {
            world.advance(TTL / 4);
            a.beat();
            b.beat();
            c.beat();
        }
        assertThat(c.token(writer)).isZero();
        assertThat(a.all(LockMessage.Reasserted.class))
                .singleElement()
                .satisfies(answer -> assertThat(answer.wanted()).isTrue());
        a.release(first);
        b.release(second);
        assertThat(c.token(writer)).isGreaterThan(second);
    }

    @Test
    void aCleanEndHandsAllReadersOverAndEachIsClaimedDisownedOrOver() {
        long claimed = a.has(SHARED);
        long disowned = b.has(SHARED);
        long forgotten = c.has(SHARED);
        world.handOver();
        a.connect();
        ManagerWorld.Client d = world.client();
        long writer = d.wants(EXCLUSIVE);
        a.reasserts(SHARED, 1, claimed);
        b.deaf();
        c.deaf();
        assertThat(d.shown().holders()).extracting(Participant::token).containsExactly(claimed, disowned, forgotten);
        world.disown(disowned);
        a.release(claimed);
        assertThat(d.token(writer)).as("one may still be believed in").isZero();
        for (int i = 0; i < 4; i++) {
            world.advance(TTL / 4);
            d.beat();
        }
        assertThat(d.token(writer)).isGreaterThan(forgotten);
    }

    @Test
    void twoHundredReadersAreNamedInPartToWhoIsRefusedAndAllInAStatus() {
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            tokens.add(a.has(SHARED));
        }
        long place = b.wants(EXCLUSIVE);
        assertThat(b.last(LockMessage.Place.class).request()).isEqualTo(place);
        assertThat(b.last(LockMessage.Place.class).holders()).hasSize(16);
        assertThat(b.shown().holders()).extracting(Participant::token).containsExactlyElementsOf(tokens);
        tokens.forEach(a::release);
        assertThat(b.token(place)).isPositive();
        b.release(b.token(place));
        assertThat(world.leftovers()).isZero();
    }
}
