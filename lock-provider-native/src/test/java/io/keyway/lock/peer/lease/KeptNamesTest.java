// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.queue.GrantTable;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.spi.Owner;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Locks that are to be held at least for some time: who is kept out by a grant that is over, and for how long. */
class KeptNamesTest extends LeaseScenarios {
    private static final long MS = LeaseWorld.MS;
    private static final long TTL = LeaseWorld.TTL;
    private static final long AT_LEAST = 2 * TTL;
    private static final long TOKEN = 7L << 31 | 3;

    /** The token of a grant that c0 has of "a" from now on. */
    private long granted() {
        c(0).acquireAtLeast("a", AT_LEAST);
        world.settle();
        return c(0).believes("a");
    }

    /** c1 gets "a" when so much time has passed from now, and no sooner. */
    private void passesOnAfter(long nanos) {
        c(1).acquire("a");
        world.advance(nanos - 1);
        assertThat(c(1).believes("a")).isZero();
        world.advance(1);
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void aReleasedLockIsFreeWhenItsTimeHasPassed() {
        granted();
        world.advance(TTL / 2);
        assertThat(c(0).release("a")).as("no cache keeps it").isFalse();
        world.settle();
        passesOnAfter(AT_LEAST - TTL / 2);
        assertThat(world.goals).contains(LockGoal.PLACE_KEPT, LockGoal.GRANT_AFTER_KEPT_PLACE);
    }

    @Test
    void aLockThatWasHeldForLongerIsFreeAtItsRelease() {
        granted();
        world.advance(AT_LEAST);
        c(0).release("a");
        world.settle();
        c(1).acquire("a");
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void itIsKeptThoughItsHolderVanished() {
        granted();
        c(0).isolate();
        passesOnAfter(AT_LEAST);
        assertThat(c(0).believes("a")).isZero();
    }

    @Test
    void itIsKeptThoughItsHolderIsDead() {
        granted();
        world.sessionEnds(c(0));
        passesOnAfter(AT_LEAST);
    }

    @Test
    void whoeverDoesNotWaitIsRefusedAtOnce() {
        granted();
        c(1).tryAcquire("a");
        c(0).release("a");
        world.settle();
        assertThat(c(1).told()).isEqualTo("Refused");
        c(2).tryAcquire("a");
        world.settle();
        assertThat(c(2).told()).isEqualTo("Refused");
    }

    @Test
    void itsFormerHolderWaitsLikeAnybodyElse() {
        granted();
        c(0).release("a");
        c(0).acquire("a");
        world.advance(AT_LEAST - 1);
        assertThat(c(0).believes("a")).isZero();
        world.advance(1);
        assertThat(c(0).believes("a")).isPositive();
    }

    @Test
    void noMessageFindsIt() {
        long token = granted();
        c(0).release("a");
        world.settle();
        c(0).sendRaw(new LockMessage.Release(LeaseWorld.key("a"), token, token));
        c(1).sendRaw(new LockMessage.Accepted(LeaseWorld.key("a"), token, token));
        c(1).sendRaw(new LockMessage.Revoked(LeaseWorld.key("a"), token, token, token));
        c(0).sendRaw(new LockMessage.Withdraw(LeaseWorld.key("a"), 1));
        world.command("a", new LockCall.Disown(token));
        world.settle();
        passesOnAfter(AT_LEAST);
    }

    @Test
    void aGrantThatReachedNobodyIsNotKept() {
        c(0).holdToClient(true);
        long request = c(0).acquireAtLeast("a", AT_LEAST);
        world.settle();
        c(0).withdraw(request);
        world.settle();
        c(1).acquire("a");
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
        c(0).holdToClient(false);
        world.settle();
    }

    @Test
    void aGrantThatCameForNobodyIsNotKept() {
        c(0).holdToClient(true);
        c(0).holdToMember(true);
        long request = c(0).acquireAtLeast("a", AT_LEAST);
        c(0).holdToMember(false);
        world.settle();
        c(0).holdToMember(true);
        c(0).withdraw(request);
        c(0).holdToClient(false);
        world.settle();
        c(0).holdToMember(false);
        world.settle();
        c(1).acquire("a");
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void aGrantThatCameWhenItHadExpiredIsNotKept() {
        c(0).holdToClient(true);
        c(0).acquireAtLeast("a", AT_LEAST);
        world.settle();
        c(0).holdToMember(true);
        c(1).acquire("a");
        world.advance(TTL + MS);
        assertThat(c(1).believes("a")).as("the member cannot know").isZero();
        assertThat(world.goals).contains(LockGoal.PLACE_KEPT);
        c(0).holdToMember(false);
        c(0).holdToClient(false);
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void aGrantThatIsAbandonedIsNotKept() {
        long token = granted();
        c(0).abandon("a");
        world.settle();
        c(1).acquire("a");
        world.settle();
        assertThat(c(1).believes("a")).isGreaterThan(token);
    }

    @Test
    void aLapsedGrantThatIsAbandonedIsNotKept() {
        granted();
        c(0).holdToClient(true);
        world.advance(TTL * 3 / 4);
        assertThat(c(0).believes("a")).isZero();
        c(0).call("a", new LockCall.Release(c(0).last(LockNotice.Ended.class).token(), true));
        world.settle();
        c(1).acquire("a");
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
        c(0).holdToClient(false);
        world.settle();
    }

    @Test
    void aBreakFreesItAtOnce() {
        long token = granted();
        c(0).release("a");
        c(1).acquire("a");
        world.settle();
        c(2).call("a", new LockCall.Break(1, token, "not needed", TTL));
        world.settle();
        assertThat(c(2).last(LockNotice.Told.class).answer())
                .isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 1, true));
        assertThat(c(1).believes("a")).isGreaterThan(token);
        assertThat(world.goals).contains(LockGoal.KEPT_PLACE_BROKEN);
    }

    @Test
    void aBrokenGrantIsNotKept() {
        long token = granted();
        c(2).call("a", new LockCall.Break(1, token, "stuck", TTL));
        world.settle();
        c(1).acquire("a");
        world.settle();
        assertThat(c(1).believes("a")).isGreaterThan(token);
    }

    @Test
    void aReleaseThatCrossesItsBreakFreesTheLock() {
        long token = granted();
        c(0).holdToClient(true);
        c(2).call("a", new LockCall.Break(1, token, "stuck", TTL));
        world.settle();
        c(0).release("a");
        world.settle();
        assertThat(c(2).last(LockNotice.Told.class).answer())
                .isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 1, true));
        c(1).acquire("a");
        world.settle();
        assertThat(c(1).believes("a")).isGreaterThan(token);
        c(0).holdToClient(false);
        world.settle();
    }

    @Test
    void itIsShownForWhatItIs() {
        long token = granted();
        c(0).release("a");
        world.advance(TTL / 2);
        c(2).call("a", new LockCall.Show(1, TTL));
        world.settle();
        LockMessage.Status status =
                (LockMessage.Status) c(2).last(LockNotice.Told.class).answer();
        assertThat(status.holders())
                .containsExactly(
                        new Participant(c(0).owner(), LockMode.EXCLUSIVE, 1, token, TTL / 2, AT_LEAST - TTL / 2));
        c(1).acquire("a");
        world.advance(AT_LEAST);
        c(2).call("a", new LockCall.Show(2, TTL));
        world.settle();
        status = (LockMessage.Status) c(2).last(LockNotice.Told.class).answer();
        assertThat(status.holders()).hasSize(1).allMatch(party -> party.kept() == 0);
    }

    @Test
    void aCachedLockDoesNotServeIt() {
        c(0).acquire("a");
        world.settle();
        c(0).release("a");
        long token = granted();
        assertThat(token).isPositive();
        assertThat(world.traced()).endsWith("c0>m Release, c0>m Acquire, m>c0 Granted");
        c(0).release("a");
        world.settle();
        passesOnAfter(AT_LEAST);
    }

    @Test
    void longerThanAnyLeaseIsRefused() {
        c(0).acquireAtLeast("a", world.quarantine() + 1);
        world.settle();
        assertThat(c(0).last(LockNotice.Failed.class).why()).isEqualTo(RefusalCause.TOO_LONG.why());
    }

    @Test
    void aTakenOverGrantIsKeptWhenItsHolderIsDead() {
        world.command("a", imported(TTL, 3 * TTL));
        world.advance(MS);
        world.command("a", new LockCall.Disown(TOKEN));
        passesOnAfter(3 * TTL - MS);
    }

    @Test
    void aTakenOverGrantThatNobodyClaimsIsKept() {
        world.command("a", imported(TTL, 3 * TTL));
        passesOnAfter(3 * TTL);
    }

    @Test
    void aPlaceThatWasKeptBeforeIsTakenOver() {
        world.command("a", imported(0, TTL / 2));
        assertThat(exported()).containsExactly(imported(0, TTL / 2));
        world.advance(MS);
        assertThat(exported()).containsExactly(imported(0, TTL / 2 - MS));
        passesOnAfter(TTL / 2 - MS);
    }

    @Test
    void theTableOfACleanEndSaysHowLong() {
        long token = granted();
        world.advance(MS);
        assertThat(exported()).singleElement().satisfies(grant -> {
            assertThat(grant.token()).isEqualTo(token);
            assertThat(grant.left()).isEqualTo(TTL);
            assertThat(grant.keep()).isEqualTo(AT_LEAST - MS);
        });
        c(0).release("a");
        world.settle();
        assertThat(exported()).singleElement().satisfies(grant -> {
            assertThat(grant.left()).isZero();
            assertThat(grant.keep()).isEqualTo(AT_LEAST - MS);
        });
    }

    private List<LockCall.Import> exported() {
        return GrantTable.of(world.member(), LeaseKeys.ALGORITHM, world.now()).orElseThrow().stream()
                .map(GrantTable.Entry::grant)
                .toList();
    }

    private static LockCall.Import imported(long left, long keep) {
        return new LockCall.Import(TOKEN, TOKEN, LockMode.EXCLUSIVE, 1, TTL, left, keep, new Owner("before", Map.of()));
    }
}
