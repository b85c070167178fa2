// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.EXCLUSIVE;
import static io.keyway.lock.LockMode.SHARED;
import static io.keyway.lock.peer.lease.GrantWorld.MS;
import static io.keyway.lock.peer.lease.GrantWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Owner;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Changes of mode at a client: what becomes of the old grant, of the wish, and of all that crosses it. */
class ClientConversionTest {
    private final GrantWorld world = GrantWorld.ofCaches(Admission.LOCKS, LockSettings.defaults(), 3);
    private final GrantWorld.Client c0 = world.clients.get(0);
    private final GrantWorld.Client c1 = world.clients.get(1);
    private final GrantWorld.Client c2 = world.clients.get(2);

    private static List<Answer> releases(GrantWorld.Client of) {
        return of.told(LockNotice.ReleaseDone.class).stream()
                .map(LockNotice.ReleaseDone::answer)
                .toList();
    }

    private static List<Long> refused(GrantWorld.Client of) {
        return of.told(LockNotice.Refused.class).stream()
                .map(LockNotice.Refused::request)
                .toList();
    }

    @Test
    void aReaderAloneBecomesAWriterWithAHigherTokenAndIsToldOfNoEnd() {
        long reader = c0.acquire(SHARED);
        long before = c0.token(reader);
        long writer = c0.convert(reader, EXCLUSIVE, true);

        assertThat(world.holders()).containsExactly(writer);
        assertThat(c0.believes(writer)).isTrue();
        assertThat(c0.token(writer)).isGreaterThan(before);
        assertThat(c0.told(LockNotice.Ended.class)).isEmpty();
        assertThat(c0.told(LockNotice.Closed.class)).hasSize(1);
        assertThat(c0.handles()).hasSize(1);
        c0.letGo(writer);
        assertThat(c0.reuse(EXCLUSIVE)).as("it is cached like any other").isNotZero();
    }

    @Test
    void aCachedReaderInItsThirdUseBecomesAWriter() {
        c0.letGo(c0.acquire(SHARED));
        c0.letGo(c0.reuse(SHARED));
        long third = c0.reuse(SHARED);
        long writer = c0.convert(third, EXCLUSIVE, true);
        assertThat(c0.believes(writer)).isTrue();
        c0.letGo(writer);
        long elsewhere = c1.acquire(EXCLUSIVE);
        assertThat(world.holders()).containsExactly(elsewhere);
    }

    @Test
    void idleReadersOfTheSameClientGoBackFirst() {
        long reader = c0.acquire(SHARED);
        long other = c0.acquire(SHARED);
        long third = c0.acquire(SHARED);
        c0.letGo(other);
        c0.letGo(third);
        world.sent.clear();
        long writer = c0.convert(reader, EXCLUSIVE, false);

        assertThat(c0.believes(writer)).isTrue();
        assertThat(world.count(LockMessage.Recall.class)).isZero();
        assertThat(world.sent).element(2).isInstanceOf(LockMessage.Acquire.class);
    }

    @Test
    void anUpgradeWaitsForReadersInUseHereAndElsewhereBeforeAllWhoQueue() {
        long reader = c0.acquire(SHARED);
        long here = c0.acquire(SHARED);
        long elsewhere = c1.acquire(SHARED);
        long queued = c2.acquire(EXCLUSIVE);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        long late = c0.acquire(SHARED);

        assertThat(c0.believes(reader)).as("it reads on").isTrue();
        c0.letGo(here);
        assertThat(c0.believes(writer)).isFalse();
        c1.letGo(elsewhere);
        assertThat(world.holders()).containsExactly(writer);
        c0.letGo(writer);
        assertThat(world.holders()).containsExactly(queued);
        c2.letGo(queued);
        assertThat(world.holders()).containsExactly(late);
    }

    @Test
    void anUpgradeThatWaitsIsShownAsTheFirstThatWaits() {
        long reader = c0.acquire(SHARED);
        c1.acquire(SHARED);
        c1.acquire(EXCLUSIVE);
        c0.convert(reader, EXCLUSIVE, true);
        c2.question(new LockCall.Show(900, TTL));
        LockMessage.Status status =
                (LockMessage.Status) c2.told(LockNotice.Told.class).get(0).answer();
        assertThat(status.holders()).extracting(Participant::mode).containsExactly(SHARED, SHARED);
        assertThat(status.waiters())
                .extracting(each -> each.owner().client() + " " + each.mode())
                .containsExactly("c0 EXCLUSIVE", "c1 EXCLUSIVE");
    }

    @Test
    void ofTwoUpgradesTheSecondIsRefusedAndReadsOn() {
        long reader = c0.acquire(SHARED);
        long other = c0.acquire(SHARED);
        long first = c0.convert(reader, EXCLUSIVE, true);
        long second = c0.convert(other, EXCLUSIVE, true);

        assertThat(refused(c0)).containsExactly(second);
        assertThat(c0.believes(other)).isTrue();
        c0.letGo(other);
        assertThat(world.holders()).containsExactly(first);
    }

    @Test
    void aSecondWishForOneGrantAndOneForWhatNobodyHoldsAreRefused() {
        long reader = c0.acquire(SHARED);
        long other = c1.acquire(SHARED);
        c0.convert(reader, EXCLUSIVE, true);
        long again = c0.convert(reader, EXCLUSIVE, true);
        assertThat(refused(c0)).containsExactly(again);
        long same = c1.convert(other, SHARED, true);
        assertThat(refused(c1)).containsExactly(same);
        long token = c0.token(reader);
        c0.letGo(reader);
        Owner owner = new Owner("c0", Map.of());
        LockCall.Acquire late = new LockCall.Acquire(
                900,
                EXCLUSIVE,
                1,
                1,
                1,
                TTL,
                owner,
                true,
                true,
                500 * MS,
                0,
                0,
                token,
                LockMessage.Acquire.IN_THE_QUEUE,
                900L);
        c0.question(c0.expected(late));
        assertThat(refused(c0)).containsExactly(again, again - 1, 900L);
    }

    @Test
    void aReleaseWhileTheUpgradeWaitsEndsBoth() {
        long reader = c0.acquire(SHARED);
        long elsewhere = c1.acquire(SHARED);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        c0.letGo(reader);

        assertThat(refused(c0)).containsExactly(writer);
        assertThat(releases(c0)).containsExactly(Answer.DONE);
        assertThat(c0.handles()).isEmpty();
        c1.letGo(elsewhere);
        long next = c2.acquire(EXCLUSIVE);
        assertThat(world.holders()).containsExactly(next);
    }

    @Test
    void aReleaseThatTheGrantOvertakesEndsTheNewGrant() {
        long reader = c0.acquire(SHARED);
        long token = c0.token(reader);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        assertThat(c0.believes(writer)).isTrue();
        c0.held.remove(writer);
        c0.question(new LockCall.Release(token));

        assertThat(releases(c0)).containsExactly(Answer.DONE);
        assertThat(c0.handles()).isEmpty();
        long next = c1.acquire(EXCLUSIVE);
        assertThat(world.holders()).containsExactly(next);
    }

    @Test
    void aLateReleaseOfTheOldTokenEndsNoUseThatCameAfter() {
        long reader = c0.acquire(SHARED);
        long token = c0.token(reader);
        c0.letGo(c0.convert(reader, EXCLUSIVE, true));
        long next = c0.reuse(EXCLUSIVE);
        c0.question(new LockCall.Release(token));
        assertThat(releases(c0)).endsWith(Answer.DONE);
        assertThat(c0.believes(next)).isTrue();
    }

    @Test
    void aReleaseThatCrossesTheGrantEndsIt() {
        long reader = c0.acquire(SHARED);
        long elsewhere = c1.acquire(SHARED);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        c0.cut(true);
        c1.letGo(elsewhere);
        c0.letGo(reader);
        assertThat(refused(c0)).containsExactly(writer);
        c0.cut(false);
        long next = c2.acquire(EXCLUSIVE);
        assertThat(world.holders()).containsExactly(next);
        assertThat(releases(c0)).containsExactly(Answer.DONE);
    }

    @Test
    void aWithdrawnUpgradeLeavesTheReaderAsItWas() {
        long reader = c0.acquire(SHARED);
        long elsewhere = c1.acquire(SHARED);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        c0.withdraw(writer);
        assertThat(c0.told(LockNotice.Withdrawn.class)).hasSize(1);
        assertThat(c0.believes(reader)).isTrue();
        long third = c2.acquire(SHARED);
        assertThat(world.holders()).containsExactlyInAnyOrder(reader, elsewhere, third);
    }

    @Test
    void aGrantThatCrossesItsWithdrawalGoesBackAndTheReaderReadsOn() {
        long reader = c0.acquire(SHARED);
        long elsewhere = c1.acquire(SHARED);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        c0.cut(true);
        c1.letGo(elsewhere);
        c0.withdraw(writer);
        c0.cut(false);
        assertThat(c0.believes(reader)).isTrue();
        long third = c2.acquire(SHARED);
        assertThat(world.holders()).containsExactlyInAnyOrder(reader, third);
        c0.letGo(reader);
        c2.letGo(third);
        long next = c1.acquire(EXCLUSIVE);
        assertThat(world.holders()).containsExactly(next);
    }

    @Test
    void aLapseEndsTheWishAndTheReader() {
        long reader = c0.acquire(SHARED);
        c1.acquire(SHARED);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        c0.cut(true);
        world.advance(TTL * 7 / 8);
        assertThat(refused(c0)).containsExactly(writer);
        assertThat(c0.told(LockNotice.Ended.class))
                .extracting(LockNotice.Ended::cause)
                .containsExactly(LeaseLoss.Cause.EXPIRED);
        c0.cut(false);
        world.advance(2 * TTL);
        assertThat(c0.cell.residents()).isZero();
        long third = c2.acquire(SHARED);
        assertThat(c2.believes(third)).isTrue();
    }

    @Test
    void aBreakOfTheReaderEndsTheWish() {
        long reader = c0.acquire(SHARED);
        long elsewhere = c1.acquire(SHARED);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        c2.question(new LockCall.Break(900, c0.token(reader), "a test", TTL));
        assertThat(refused(c0)).containsExactly(writer);
        assertThat(c0.told(LockNotice.Ended.class)).hasSize(1);
        assertThat(world.holders()).containsExactly(elsewhere);
        assertThat(c0.handles()).isEmpty();
    }

    @Test
    void theEndOfTheSessionEndsTheWish() {
        long reader = c0.acquire(SHARED);
        c1.acquire(SHARED);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        c0.lose("unknown session");
        assertThat(refused(c0)).containsExactly(writer);
        assertThat(c0.told(LockNotice.Ended.class)).hasSize(1);
        assertThat(c0.cell.residents()).isZero();
    }

    @Test
    void afterARestartTheReaderIsClaimedAndItsWishGoesOn() {
        long reader = c0.acquire(SHARED);
        long elsewhere = c1.acquire(SHARED);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        world.restart();
        assertThat(c0.believes(reader)).isTrue();
        c1.letGo(elsewhere);
        world.advance(5 * TTL);
        assertThat(world.holders()).containsExactly(writer);
        assertThat(c0.told(LockNotice.Ended.class)).isEmpty();
    }

    @Test
    void aRestartThatSwallowsTheAnswerLeavesAReaderThatAsksAgain() {
        long reader = c0.acquire(SHARED);
        c0.cut(true);
        long writer = c0.convert(reader, EXCLUSIVE, true);
        world.restart();
        c0.cut(false);
        world.advance(5 * TTL);
        assertThat(c0.believes(writer)).isTrue();
        assertThat(c0.told(LockNotice.Ended.class)).isEmpty();
    }

    @Test
    void aWriterBecomesAReaderAndReadersWhoWaitHereAndElsewhereJoinIt() {
        long writer = c0.acquire(EXCLUSIVE);
        long here = c0.acquire(SHARED);
        long elsewhere = c1.acquire(SHARED);
        long reader = c0.convert(writer, SHARED, true);
        assertThat(world.holders()).containsExactlyInAnyOrder(reader, here, elsewhere);
        assertThat(c0.told(LockNotice.Ended.class)).isEmpty();
    }

    @Test
    void aDowngradeThatIsGivenUpEndsTheGrant() {
        long writer = c0.acquire(EXCLUSIVE);
        c0.cut(true);
        long reader = c0.convert(writer, SHARED, true);
        c0.withdraw(reader);
        c0.cut(false);
        assertThat(c0.told(LockNotice.Withdrawn.class)).hasSize(1);
        long next = c1.acquire(EXCLUSIVE);
        assertThat(world.holders()).containsExactly(next);
        assertThat(c0.cell.residents()).isZero();
    }

    @Test
    void aDowngradeOverARestartIsClaimedAsThatOfAReader() {
        long writer = c0.acquire(EXCLUSIVE);
        c0.cut(true);
        long reader = c0.convert(writer, SHARED, true);
        world.restart();
        assertThat(world.sent)
                .filteredOn(LockMessage.Reassert.class::isInstance)
                .extracting(message -> ((LockMessage.Reassert) message).mode())
                .containsOnly(SHARED);
        c0.cut(false);
        world.advance(5 * TTL);
        assertThat(c0.believes(reader)).isTrue();
        long other = c1.acquire(SHARED);
        assertThat(world.holders()).containsExactly(reader, other);
    }

    /** From its asking the user relies on the weaker mode alone: others may have been let in beside it. */
    @Test
    void aLevelThatIsWeakenedOverARestartIsClaimedInTheWeakerMode() {
        long stronger = c0.acquire(LockMode.TREE_SHARED_INTENT_EXCLUSIVE);
        c0.cut(true);
        long weaker = c0.convert(stronger, LockMode.TREE_SHARED, true);
        world.restart();
        assertThat(world.sent)
                .filteredOn(LockMessage.Reassert.class::isInstance)
                .extracting(message -> ((LockMessage.Reassert) message).mode())
                .containsOnly(LockMode.TREE_SHARED);
        c0.cut(false);
        world.advance(5 * TTL);
        assertThat(c0.believes(weaker)).isTrue();
        long other = c1.acquire(LockMode.TREE_SHARED);
        assertThat(world.holders()).containsExactly(weaker, other);
    }

    @Test
    void aLevelIsWeakenedAtOnceAndLetsInWhomItDoesNotHinder() {
        long stronger = c0.acquire(LockMode.INTENT_EXCLUSIVE);
        long waits = c1.acquire(LockMode.TREE_SHARED);
        assertThat(world.holders()).containsExactly(stronger);
        long weaker = c0.convert(stronger, LockMode.INTENT_SHARED, true);
        assertThat(world.holders()).containsExactlyInAnyOrder(weaker, waits);
        assertThat(c0.told(LockNotice.Ended.class)).isEmpty();
        long again = c0.convert(weaker, LockMode.INTENT_EXCLUSIVE, true);
        assertThat(world.holders()).containsExactlyInAnyOrder(weaker, waits);
        c1.letGo(waits);
        assertThat(world.holders()).containsExactly(again);
    }

    @Test
    void aDowngradeWhoseSessionEndsIsRefused() {
        long writer = c0.acquire(EXCLUSIVE);
        c0.cut(true);
        long reader = c0.convert(writer, SHARED, true);
        c0.lose("unknown session");
        assertThat(refused(c0)).containsExactly(reader);
        c0.cut(false);
        c0.open();
        world.advance(2 * TTL + MS);
        long next = c1.acquire(EXCLUSIVE);
        assertThat(c1.believes(next)).isTrue();
    }
}
