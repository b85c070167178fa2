// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.client.LockClientHelper;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Tokens;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** One test for each repair of the source's service; docs/algorithms/lease.md refers to them. */
class LeaseRepairsTest extends LeaseScenarios {
    private static final long MS = LeaseWorld.MS;
    private static final long TTL = LeaseWorld.TTL;

    LeaseRepairsTest() {
        super(LeaseWorld.of(4));
    }

    private void start(LockSettings settings, int clients) {
        world = new LeaseWorld(settings);
        for (int i = 0; i < clients; i++) {
            world.client();
        }
    }

    // Tokens

    @Test
    void f7_eachCachedReacquireHasItsOwnHigherToken() {
        c(0).acquire("a");
        world.settle();
        long last = c(0).believes("a");
        world.traced();
        for (int i = 0; i < 10; i++) {
            assertThat(c(0).release("a")).isTrue();
            long token = c(0).reuse("a");
            assertThat(token).isEqualTo(last + 1);
            last = token;
        }
        world.settle();
        assertThat(world.traced()).isEmpty();
        c(1).acquire("a");
        world.settle();
        c(0).release("a");
        world.settle();
        assertThat(c(1).believes("a"))
                .as("goes on from the last one that was used")
                .isEqualTo(last + 1);
    }

    @Test
    void f7_aRangeThatIsUsedUpGoesBackForANewOne() {
        c(0).acquire("a");
        world.settle();
        long first = c(0).believes("a");
        for (long i = 1; i < Tokens.RANGE; i++) {
            assertThat(c(0).release("a")).isTrue();
            assertThat(c(0).reuse("a")).isEqualTo(first + i);
        }
        assertThat(c(0).release("a")).isFalse();
        world.settle();
        c(0).acquire("a");
        world.settle();
        assertThat(c(0).believes("a")).isEqualTo(first + Tokens.RANGE);
    }

    @Test
    void f7_theTokensOfAHolderThatVanishedCountAsUsed() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        c(0).isolate();
        c(1).acquire("a");
        world.advance(TTL);
        assertThat(c(1).believes("a")).isEqualTo(token + Tokens.RANGE);
    }

    @Test
    void f8_aForgottenNameStartsAboveAllThatWereForgotten() {
        start(LockSettings.defaults().withoutCache(), 1);
        long highest = 0;
        for (String name : List.of("a", "b", "a", "c", "a")) {
            c(0).acquire(name);
            world.settle();
            assertThat(c(0).believes(name)).isGreaterThan(highest);
            highest = c(0).believes(name);
            c(0).release(name);
            world.settle();
            assertThat(world.member().residents()).isZero();
        }
    }

    @Test
    void aCounterThatIsUsedUpTakesANewEpoch() {
        world.memberSessions().raiseFloor(Tokens.MAX_COUNTER - 10);
        c(0).acquire("a");
        world.settle();
        assertThat(Tokens.epoch(c(0).believes("a"))).isEqualTo(8);
        assertThat(Tokens.counter(c(0).believes("a"))).isEqualTo(1);
        assertThat(world.goals).contains(LockGoal.COUNTER_USED_UP);
    }

    // No-wait requests

    @Test
    void f9_aNoWaitRequestGetsALockThatIsCachedIdleElsewhere() {
        c(0).acquire("a");
        world.settle();
        c(0).release("a");
        world.traced();
        c(1).tryAcquire("a");
        world.settle();
        assertThat(world.traced()).isEqualTo("c1>m Acquire, m>c0 Recall, c0>m Accepted, m>c1 Granted");
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void f9_eachNoWaitRequestAsksAnew() {
        c(0).acquire("a");
        world.settle();
        world.traced();
        for (int i = 0; i < 2; i++) {
            c(1).tryAcquire("a");
            world.settle();
            assertThat(world.traced()).isEqualTo("c1>m Acquire, m>c0 Recall, c0>m Denied, m>c1 NotGranted");
            assertThat(c(1).last(LockNotice.Refused.class).holders())
                    .extracting(holder -> holder.owner().client())
                    .containsExactly("c0");
        }
        c(0).release("a");
        world.settle();
        c(1).tryAcquire("a");
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void f9_aHolderThatDoesNotAnswerCountsAsHolding() {
        c(0).acquire("a");
        world.settle();
        c(0).holdToClient(true);
        c(1).tryAcquire("a");
        world.advance(500 * MS - 1);
        assertThat(c(1).unanswered()).hasSize(1);
        world.advance(1);
        assertThat(c(1).told()).isEqualTo("Refused");
        c(0).holdToClient(false);
        world.settle();
    }

    @Test
    void aNoWaitRequestIsRefusedAtOnceByItsOwnClientsHolder() {
        c(0).acquire("a");
        world.settle();
        world.traced();
        c(0).tryAcquire("a");
        assertThat(c(0).told()).isEqualTo("Granted, Refused");
        world.settle();
        assertThat(world.traced()).isEmpty();
    }

    // Break

    @Test
    void f13_aBrokenGrantMovesOnOnlyWhenItsHolderKnows() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        c(1).acquire("a");
        world.settle();
        c(0).holdToClient(true);
        c(2).call("a", new LockCall.Break(1, token, "stuck", TTL));
        world.advance(TTL / 4);
        assertThat(c(1).believes("a")).isZero();
        assertThat(c(0).believes("a")).isEqualTo(token);
        c(0).holdToClient(false);
        world.settle();
        assertThat(c(0).told()).isEqualTo("Granted, Ended");
        assertThat(c(1).believes("a")).isGreaterThan(token);
        assertThat(c(2).last(LockNotice.Told.class).answer())
                .isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 1, true));
    }

    @Test
    void f13_aBreakOfAHolderThatCannotBeReachedWaitsForTheLeasesEnd() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        long heard = world.now();
        c(0).pause(true);
        c(1).acquire("a");
        c(2).call("a", new LockCall.Break(1, token, "stuck", 2 * TTL));
        world.advance(TTL - 1);
        assertThat(c(1).believes("a")).isZero();
        world.advance(1);
        assertThat(world.now() - heard).isEqualTo(TTL);
        assertThat(c(1).believes("a")).isPositive();
        assertThat(c(2).last(LockNotice.Told.class).answer())
                .isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 1, true));
        c(0).pause(false);
        world.advance(MS);
        assertThat(c(0).told()).isEqualTo("Granted, Ended");
    }

    @Test
    void f13_aBreakOfATokenThatIsNoLongerInUseEndsNothing() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        c(0).release("a");
        assertThat(c(0).reuse("a")).isEqualTo(token + 1);
        c(2).call("a", new LockCall.Break(1, token, "stuck", TTL));
        world.settle();
        assertThat(c(0).believes("a")).isEqualTo(token + 1);
        assertThat(c(2).last(LockNotice.Told.class).answer())
                .isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 1, false));
        assertThat(world.goals).contains(LockGoal.BREAK_MOVED_PAST);
    }

    /**
     * Why a break never ends the grant on a timer of its own: the holder may have answered that it moved past, and go
     * on believing by a later echo.
     */
    @Test
    void f13_aHolderThatMovedPastAndCannotSaySoKeepsItsLease() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        c(0).release("a");
        c(0).reuse("a");
        c(1).acquire("a");
        world.settle();
        world.advance(TTL / 4);
        c(0).holdToClient(true);
        c(2).call("a", new LockCall.Break(1, token, "stuck", 2 * TTL));
        // A KEEP of c0 is heard after the REVOKE was sent, and echoed behind it; the answer to the REVOKE gets stuck.
        world.advance(TTL / 4);
        c(0).holdToMember(true);
        c(0).holdToClient(false);
        world.advance(TTL / 2);
        assertThat(c(0).believes("a"))
                .as("a ttl after it was heard before the REVOKE")
                .isEqualTo(token + 1);
        assertThat(c(1).believes("a")).isZero();
        c(0).holdToMember(false);
        world.settle();
        assertThat(c(2).last(LockNotice.Told.class).answer())
                .isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 1, false));
    }

    // Belief

    @Test
    void f14_aLapseOnceSeenIsFinal() {
        c(0).acquire("a");
        world.settle();
        c(0).holdToClient(true);
        world.advance(TTL);
        assertThat(c(0).believes("a")).isZero();
        assertThat(c(0).told()).isEqualTo("Granted, Doubted, Ended");
        world.traced();
        c(0).holdToClient(false);
        world.advance(MS);
        assertThat(c(0).believes("a")).isZero();
        assertThat(c(0).phase("a")).isEqualTo(LockClientHelper.Phase.REST);
        assertThat(world.manager("a")).as("the lapse gave the lock back").isNull();
    }

    @Test
    void f14_aUserWhoSeesTheLapseFirstGivesTheLockBack() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        c(0).call("a", new LockCall.Lapse(token));
        world.settle();
        assertThat(c(0).told()).isEqualTo("Granted, Ended");
        c(0).call("a", new LockCall.Lapse(token));
        assertThat(c(0).told()).isEmpty();
        world.advance(TTL);
        assertThat(world.manager("a")).isNull();
    }

    /**
     * Found by the simulator: the lapse gave the lock back at once, and the next client believed before the user of
     * this one could stop.
     */
    @Test
    void r3_aUserWhoseLeaseLapsedHasAQuarterOfTheTtlToStop() {
        c(0).acquire("a");
        world.settle();
        c(1).acquire("a");
        world.settle();
        c(0).holdToClient(true);
        world.advance(TTL * 3 / 4);
        assertThat(c(0).told()).isEqualTo("Granted, Doubted, Ended");
        world.advance(TTL / 4 - 1);
        assertThat(c(1).believes("a")).isZero();
        world.advance(1);
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void r3_aUserWhoSaysThatItStoppedIsNotWaitedFor() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        c(1).acquire("a");
        world.settle();
        c(0).holdToClient(true);
        world.advance(TTL * 3 / 4);
        c(0).call("a", new LockCall.Release(token));
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void f16_aGrantWithAStaleEchoIsConfirmedByOneKeep() {
        c(0).delay(TTL / 16, TTL / 16);
        c(0).acquire("a");
        world.advance(TTL / 16);
        c(0).holdToMember(true);
        world.advance(TTL * 10 / 16);
        assertThat(c(0).unanswered()).hasSize(0);
        assertThat(c(0).believes("a")).isPositive();
    }

    @Test
    void f16_aSlowLinkFailsTheRequestInsteadOfGrantingForEver() {
        c(0).delay(TTL * 3 / 8, TTL * 3 / 8);
        c(0).acquire("a");
        world.advance(10 * TTL);
        assertThat(c(0).told()).isEqualTo("Failed");
        assertThat(world.goals).contains(LockGoal.STALE_GRANT_CONFIRMED, LockGoal.STALE_GRANT_RETURNED);
        assertThat(world.manager("a")).isNull();
    }

    @Test
    void f16_aStaleGrantThatCanBeConfirmedIsBelieved() {
        c(1).acquire("a");
        world.settle();
        c(0).acquire("a");
        world.settle();
        // The answer to c0 is long under way; when it comes the link is fast again.
        c(1).release("a");
        c(0).holdToClient(true);
        world.advance(TTL * 11 / 16);
        c(0).holdToMember(false);
        c(0).holdToClient(false);
        world.settle();
        assertThat(c(0).believes("a")).isPositive();
    }

    @Test
    void f16_aWaiterThatIsNotHeardIsPassedOverAndKeepsItsPlace() {
        c(0).acquire("a");
        world.settle();
        c(1).acquire("a");
        world.settle();
        c(2).acquire("a");
        c(3).acquire("a");
        world.settle();
        c(1).holdToMember(true);
        world.advance(TTL / 2);
        c(0).release("a");
        world.settle();
        assertThat(c(1).believes("a")).isZero();
        assertThat(c(2).believes("a")).isPositive();
        c(1).holdToMember(false);
        world.settle();
        c(2).release("a");
        world.settle();
        assertThat(c(1).believes("a")).as("before c3").isPositive();
        assertThat(c(3).believes("a")).isZero();
        assertThat(world.goals).contains(LockGoal.WAITER_PASSED_OVER);
    }

    @Test
    void f16_aPassedOverWaiterIsGrantedWhenItIsHeardAgain() {
        c(0).acquire("a");
        world.settle();
        c(1).acquire("a");
        world.settle();
        c(1).holdToMember(true);
        world.advance(TTL * 5 / 8);
        c(0).release("a");
        world.settle();
        assertThat(c(1).believes("a")).isZero();
        c(1).holdToMember(false);
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
        assertThat(world.goals).contains(LockGoal.PASSED_OVER_HEARD_AGAIN);
    }

    @Test
    void anExpiryInALiveSessionIsToldBeforeAnyLaterEcho() {
        c(0).acquire("long", 4 * TTL);
        c(0).acquire("a");
        world.settle();
        c(0).holdToMember(true);
        c(1).acquire("a");
        world.advance(TTL);
        assertThat(c(1).believes("a")).isPositive();
        assertThat(c(0).believes("long")).isPositive();
        world.traced();
        c(0).holdToMember(false);
        world.advance(MS);
        assertThat(c(0).believes("a")).isZero();
        assertThat(c(0).believes("long")).isPositive();
    }

    // Cache and recall

    @Test
    void f19_localWaitersDoNotKeepTheLockFromRemoteOnes() {
        c(0).acquire("a");
        world.settle();
        c(0).acquire("a");
        world.advance(MS);
        c(1).acquire("a");
        world.settle();
        world.advance(MS);
        c(0).acquire("a");
        world.settle();
        // In the order of the users' calls: c0's second, c1's, c0's third.
        c(0).release("a");
        world.settle();
        assertThat(c(0).believes("a")).isPositive();
        c(0).release("a");
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
        assertThat(c(0).unanswered()).hasSize(1);
        c(1).release("a");
        world.settle();
        assertThat(c(0).believes("a")).isPositive();
        assertThat(world.goals).contains(LockGoal.HAND_OVER_FORBIDDEN);
    }

    @Test
    void localWaitersAreServedWithoutMessagesWhileNobodyElseWaits() {
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            c(0).acquire("a");
        }
        world.settle();
        world.traced();
        for (int i = 0; i < 4; i++) {
            tokens.add(c(0).believes("a"));
            c(0).release("a");
        }
        world.settle();
        assertThat(world.traced()).isEmpty();
        assertThat(tokens).doesNotHaveDuplicates().isSorted();
        assertThat(world.goals).contains(LockGoal.LOCAL_HAND_OVER);
    }

    @Test
    void anIdleLockGoesBackAfterCacheFor() {
        start(LockSettings.defaults().withCache(3 * TTL, 1000), 1);
        c(0).acquire("a");
        world.advance(2 * TTL);
        c(0).release("a");
        world.advance(3 * TTL - 1);
        assertThat(c(0).phase("a")).isEqualTo(LockClientHelper.Phase.CACHED);
        world.advance(1);
        world.settle();
        assertThat(c(0).cell.residents()).isZero();
        assertThat(world.member().residents()).isZero();
    }

    @Test
    void theCacheIsBounded() {
        start(LockSettings.defaults().withCache(10 * TTL, 3), 1);
        for (String name : List.of("a", "b", "c", "d", "e")) {
            c(0).acquire(name);
            world.settle();
        }
        for (String name : List.of("e", "d", "c", "b", "a")) {
            c(0).release(name);
            world.settle();
        }
        assertThat(c(0).phase("a")).isEqualTo(LockClientHelper.Phase.REST);
        assertThat(c(0).phase("b")).isEqualTo(LockClientHelper.Phase.REST);
        assertThat(List.of(c(0).phase("c"), c(0).phase("d"), c(0).phase("e")))
                .containsOnly(LockClientHelper.Phase.CACHED);
    }

    @Test
    void withoutACacheEachReleaseGoesToTheManager() {
        start(LockSettings.defaults().withoutCache(), 1);
        c(0).acquire("a");
        world.settle();
        world.traced();
        assertThat(c(0).release("a")).isFalse();
        world.settle();
        assertThat(world.traced()).isEqualTo("c0>m Release");
        assertThat(c(0).told()).isEqualTo("Granted, ReleaseDone");
        assertThat(c(0).cell.residents()).isZero();
    }

    @Test
    void aCachedLockIsReusedOnlyForEqualRequests() {
        c(0).acquire("a");
        world.settle();
        c(0).release("a");
        world.traced();
        c(0).acquire("a", TTL / 2);
        world.settle();
        assertThat(world.traced()).isEqualTo("c0>m Release, c0>m Acquire, m>c0 Granted");
        assertThat(c(0).believes("a")).isPositive();
    }

    @Test
    void recallAtRenewalWaitsForTheHoldersNextFrame() {
        start(LockSettings.defaults().withRecallAtRenewal(), 2);
        c(0).acquire("a");
        world.settle();
        c(0).release("a");
        c(1).acquire("a");
        world.settle();
        assertThat(c(1).believes("a")).isZero();
        world.advance(TTL / 2);
        assertThat(c(1).believes("a")).isPositive();
    }

    // Requests that end

    @Test
    void aWithdrawnWaiterLeavesTheQueue() {
        c(0).acquire("a");
        long request = c(1).acquire("a");
        c(2).acquire("a");
        world.settle();
        c(1).call("a", new LockCall.Withdraw(request));
        world.settle();
        c(0).release("a");
        world.settle();
        assertThat(c(1).told()).isEqualTo("Withdrawn");
        assertThat(c(2).believes("a")).isPositive();
        assertThat(c(1).cell.residents()).isZero();
    }

    @Test
    void aWithdrawalThatCrossesItsGrantEndsTheGrant() {
        c(0).holdToClient(true);
        long request = c(0).acquire("a");
        c(1).acquire("a");
        world.settle();
        c(0).call("a", new LockCall.Withdraw(request));
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
        c(0).holdToClient(false);
        world.settle();
        assertThat(c(0).told()).isEqualTo("Withdrawn");
        assertThat(c(1).believes("a")).isPositive();
        assertThat(world.goals).contains(LockGoal.WITHDRAWN_AFTER_GRANT, LockGoal.UNEXPECTED_GRANT_RETURNED);
    }

    @Test
    void aWithdrawnRequestIsNotSentToAFreshSession() {
        c(0).acquire("a");
        world.settle();
        c(1).holdToMember(true);
        long request = c(1).acquire("a");
        world.sessionEnds(c(1));
        c(1).lose(false);
        c(1).call("a", new LockCall.Withdraw(request));
        world.traced();
        c(1).open();
        world.settle();
        assertThat(world.traced()).isEmpty();
        assertThat(c(1).told()).isEqualTo("Withdrawn");
    }

    @Test
    void theDeadLeaveTheQueue() {
        c(0).acquire("a");
        c(1).acquire("a");
        c(2).acquire("a");
        world.settle();
        world.sessionEnds(c(1));
        c(0).release("a");
        world.settle();
        assertThat(c(2).believes("a")).isPositive();
    }

    @Test
    void messagesAboutAGrantThatIsOverDoNothing() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        for (LockMessage message : List.of(
                new LockMessage.Release(LeaseWorld.key("a"), token + 1, token + 1),
                new LockMessage.Accepted(LeaseWorld.key("a"), token - 1, token),
                new LockMessage.Denied(LeaseWorld.key("a"), token + 1),
                new LockMessage.Revoked(LeaseWorld.key("a"), token, token + 1, token),
                new LockMessage.Withdraw(LeaseWorld.key("a"), 99),
                new LockMessage.Use(LeaseWorld.key("a"), 3, List.of(), List.of(), 0, true))) {
            c(0).sendRaw(message);
        }
        c(1).sendRaw(new LockMessage.Release(LeaseWorld.key("a"), token, token));
        c(1).acquire("a");
        world.settle();
        assertThat(c(0).believes("a")).isEqualTo(token);
        assertThat(c(1).believes("a")).isZero();
    }

    @Test
    void requestsOfAFreshSessionKeepTheirOrder() {
        c(0).acquire("a");
        world.settle();
        c(1).acquire("a");
        c(1).acquire("a");
        world.settle();
        world.sessionEnds(c(1));
        c(1).lose(false);
        c(1).open();
        world.settle();
        c(0).release("a");
        world.settle();
        assertThat(c(1).last(LockNotice.Granted.class).request()).isEqualTo(1);
        c(1).release("a");
        world.settle();
        assertThat(c(1).last(LockNotice.Granted.class).request()).isEqualTo(2);
    }

    @Test
    void aReleaseIsDoneWhenTheMemberHasItAndUnknownWhenTheSessionEndsFirst() {
        start(LockSettings.defaults().withoutCache(), 1);
        c(0).acquire("a");
        world.settle();
        c(0).told();
        c(0).holdToClient(true);
        c(0).release("a");
        world.settle();
        assertThat(c(0).told()).isEmpty();
        c(0).holdToClient(false);
        world.settle();
        assertThat(c(0).last(LockNotice.ReleaseDone.class).answer()).isEqualTo(Answer.DONE);
        c(0).acquire("a");
        world.settle();
        c(0).holdToMember(true);
        c(0).release("a");
        world.sessionEnds(c(0));
        c(0).lose(false);
        assertThat(c(0).last(LockNotice.ReleaseDone.class).answer()).isEqualTo(Answer.UNKNOWN);
    }

    @Test
    void aSessionThatIsOverEndsItsGrants() {
        c(0).acquire("a");
        world.settle();
        world.sessionEnds(c(0));
        c(0).lose(false);
        assertThat(c(0).told()).isEqualTo("Granted, Ended");
        assertThat(c(0).cell.residents()).isZero();
    }

    @Test
    void aTtlBeyondTheClustersLongestIsRefused() {
        c(0).acquire("a", world.quarantine() + 1);
        world.settle();
        assertThat(c(0).last(LockNotice.Failed.class).why()).contains("maxTtl");
    }

    @Test
    void otherModesAreRefused() {
        c(0).call(
                        "a",
                        new LockCall.Acquire(
                                77, LockMode.PERMITS, 1, 1, TTL, new Owner("c0", Map.of()), true, false, 0, 0, null));
        world.settle();
        assertThat(c(0).last(LockNotice.Failed.class).why()).contains("not granted in that mode");
        assertThat(world.member().residents()).isZero();
    }
}
