// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.simulator.FirstComeFirstServed.Ask;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Each oracle finds a hand-made history that violates its property, and lets a good one pass. */
class LeaseOraclesTest {
    static final long TTL = 1000;

    private static Grant grant(int client, long token) {
        return grant(1, client, token);
    }

    private static Grant grant(int memberLife, int client, long token) {
        return new Grant("n", 0, memberLife, client, client, 1, token, token, token + 9, TTL, 0);
    }

    static void violates(String property, ThrowingCallable history) {
        assertThatThrownBy(history).isInstanceOf(Violation.class).hasMessageStartingWith(property + ":");
    }

    static void passes(ThrowingCallable history) {
        assertThatCode(history).doesNotThrowAnyException();
    }

    @Nested
    class AuthorityExclusionR1 {
        private final AuthorityExclusion oracle = new AuthorityExclusion(
                grant -> grant.client() == 3 ? "client1" : null, (old, next) -> old.client() != 4);

        @Test
        void grantsInTurnPass() {
            passes(() -> {
                oracle.granted(grant(1, 1));
                oracle.ended(grant(1, 1), Grant.End.GIVEN_BACK);
                oracle.granted(grant(2, 11));
            });
        }

        @Test
        void aSecondGrantIsFound() {
            oracle.granted(grant(1, 1));
            violates("R1", () -> oracle.granted(grant(2, 11)));
        }

        @Test
        void aGrantWhileAnotherCanUseAnOldOneIsFound() {
            violates("R1", () -> oracle.granted(grant(3, 11)));
        }

        @Test
        void aGrantThatDoesNotStandAnyMorePassesAndMayEndLater() {
            Grant old = grant(4, 1);
            passes(() -> {
                oracle.granted(old);
                oracle.granted(grant(2, 11));
                oracle.ended(old, Grant.End.OTHER);
            });
        }

        @Test
        void aGrantBesideTheOneThatFollowedItIsFound() {
            oracle.granted(grant(4, 1));
            oracle.granted(grant(2, 11));
            violates("R1", () -> oracle.granted(grant(1, 21)));
        }

        @Test
        void theEndOfWhatDidNotStandIsFound() {
            violates("R1", () -> oracle.ended(grant(1, 1), Grant.End.EXPIRED));
        }
    }

    @Nested
    class BeliefExclusionR2 {
        private final BeliefExclusion oracle = new BeliefExclusion();

        @Test
        void aBeliefThatEndedFirstPasses() {
            passes(() -> {
                Hand old = new Hand(1, 1);
                oracle.began(old);
                old.at(750);
                oracle.began(new Hand(2, 11));
            });
        }

        @Test
        void aReleasedHoldPasses() {
            passes(() -> {
                Hand old = new Hand(1, 1);
                oracle.began(old);
                oracle.releasing(old);
                oracle.began(new Hand(2, 11));
            });
        }

        @Test
        void twoWhoBelieveAreFound() {
            oracle.began(new Hand(1, 1).at(749));
            violates("R2", () -> oracle.began(new Hand(2, 11)));
        }

        @Test
        void aBeliefThatComesBackIsFound() {
            Hand old = new Hand(1, 1).at(800);
            oracle.began(old);
            oracle.began(new Hand(2, 11));
            old.until = 2000;
            violates("R2", () -> oracle.looked(1, List.of(old)));
        }
    }

    @Nested
    class ReactionWindowR3 {
        private final ReactionWindow oracle = new ReactionWindow(0, 0);

        private Hand lost() {
            Hand old = new Hand(1, 1).at(750);
            oracle.began(old);
            oracle.finished(old, Use.Finish.LOST);
            return old;
        }

        @Test
        void aQuarterOfTheTtlLaterPasses() {
            passes(() -> {
                lost().at(1000);
                oracle.began(new Hand(2, 11));
            });
        }

        @Test
        void soonerIsFound() {
            lost().at(999);
            violates("R3", () -> oracle.began(new Hand(2, 11)));
        }

        @Test
        void aDeadProcessNeedsNoTime() {
            passes(() -> {
                lost();
                oracle.died(1);
                oracle.began(new Hand(2, 11));
            });
        }

        @Test
        void whoSaysThatItStoppedNeedsNoTime() {
            passes(() -> {
                oracle.releasing(lost());
                oracle.began(new Hand(2, 11));
            });
        }

        @Test
        void whoReleasedNeedsNoTime() {
            passes(() -> {
                Hand old = new Hand(1, 1).at(750);
                oracle.began(old);
                oracle.finished(old, Use.Finish.RELEASED);
                oracle.began(new Hand(2, 11));
            });
        }
    }

    @Nested
    class TokenOrderR5 {
        private final TokenOrder oracle = new TokenOrder();

        @Test
        void risingTokensPass() {
            passes(() -> {
                oracle.granted(grant(1, 1));
                oracle.began(new Hand(1, 1));
                oracle.began(new Hand(1, 2));
                oracle.granted(grant(2, 3));
                oracle.began(new Hand(2, 3));
            });
        }

        @Test
        void aGrantThatIsReassertedPasses() {
            passes(() -> {
                oracle.granted(grant(1, 1));
                oracle.began(new Hand(1, 2));
                oracle.granted(grant(2, 1, 1));
                oracle.began(new Hand(1, 3));
            });
        }

        @Test
        void anEqualTokenIsFound() {
            oracle.granted(grant(1, 1));
            violates("R5", () -> oracle.granted(grant(2, 1)));
        }

        @Test
        void aTokenThatAUserHadIsFound() {
            oracle.granted(grant(1, 1));
            oracle.began(new Hand(1, 5));
            violates("R5", () -> oracle.granted(grant(2, 5)));
        }

        @Test
        void aTokenHandedOutTwiceIsFound() {
            oracle.granted(grant(1, 1));
            oracle.began(new Hand(1, 2));
            violates("R5", () -> oracle.began(new Hand(1, 2)));
        }

        @Test
        void aLateUseAboveANewerGrantIsFound() {
            oracle.granted(grant(1, 1));
            oracle.granted(grant(2, 5));
            violates("R5", () -> oracle.began(new Hand(1, 6)));
        }

        @Test
        void aTokenThatNobodyGrantedIsFound() {
            violates("R5", () -> oracle.began(new Hand(1, 1)));
        }
    }

    @Nested
    class ExpiryBoundsR7 {
        private final Ears ears = new Ears();
        private final ExpiryBounds oracle = new ExpiryBounds(ears);

        @Test
        void expiryAfterTheTtlPasses() {
            passes(() -> {
                oracle.granted(grant(1, 1));
                ears.now = TTL;
                oracle.looked();
                oracle.ended(grant(1, 1), Grant.End.EXPIRED);
            });
        }

        @Test
        void expiryBeforeTheTtlIsFound() {
            oracle.granted(grant(1, 1));
            ears.now = TTL - 1;
            violates("R7", () -> oracle.ended(grant(1, 1), Grant.End.EXPIRED));
        }

        @Test
        void aReleaseMayComeAtAnyTime() {
            passes(() -> {
                oracle.granted(grant(1, 1));
                oracle.ended(grant(1, 1), Grant.End.GIVEN_BACK);
            });
        }

        @Test
        void aGrantThatOutlivesItsTtlIsFound() {
            oracle.granted(grant(1, 1));
            ears.now = TTL + 11;
            violates("R7", oracle::looked);
        }
    }

    @Nested
    class LostDeadlineR8 {
        private final Ears ears = new Ears();
        private final LostDeadline oracle = new LostDeadline(ears);
        private final Hand use = new Hand(1, 1);

        @Test
        void beliefThatEndsAtItsDeadlineAndIsToldPasses() {
            passes(() -> {
                oracle.began(use);
                oracle.looked(1, List.of(use.at(749)));
                oracle.looked(1, List.of(use.at(750)));
                oracle.finished(use, Use.Finish.LOST);
                oracle.began(new Hand(1, 2));
            });
        }

        @Test
        void aDeadlineBeyondTheNewestEchoIsFound() {
            use.until = 751;
            violates("R8", () -> oracle.began(use));
        }

        @Test
        void beliefAfterTheDeadlineIsFound() {
            oracle.began(use);
            use.stubborn = true;
            violates("R8", () -> oracle.looked(1, List.of(use.at(750))));
        }

        @Test
        void beliefThatComesBackIsFound() {
            oracle.began(use);
            oracle.looked(1, List.of(use.at(750)));
            ears.highest = 500;
            use.until = 1250;
            violates("R8", () -> oracle.looked(1, List.of(use)));
        }

        @Test
        void aLossThatNobodyTellsIsFound() {
            oracle.began(use);
            violates("R8", () -> oracle.looked(1, List.of(use.at(750 + 51 * Nanos.MILLI))));
        }

        @Test
        void aPausedProcessHasTime() {
            passes(() -> {
                oracle.began(use);
                ears.running = 0;
                oracle.looked(1, List.of(use.at(750 + 51 * Nanos.MILLI)));
            });
        }

        @Test
        void theNextHoldBeforeTheLossWasToldIsFound() {
            oracle.began(use);
            use.at(750);
            violates("R8", () -> oracle.began(new Hand(1, 2)));
        }
    }

    @Nested
    class OneEndR9 {
        private final OneEnd oracle = new OneEnd();
        private final Hand use = new Hand(1, 1);

        @Test
        void oneEndPasses() {
            passes(() -> {
                oracle.began(use);
                oracle.finished(use, Use.Finish.RELEASED);
            });
        }

        @Test
        void aLossAfterTheReleaseIsFound() {
            oracle.began(use);
            oracle.finished(use, Use.Finish.RELEASED);
            violates("R9", () -> oracle.finished(use, Use.Finish.LOST));
        }

        @Test
        void aSecondBeginIsFound() {
            oracle.began(use);
            violates("R9", () -> oracle.began(use));
        }
    }

    @Nested
    class HeldAtLeastR20 {
        private long now;
        private final HeldAtLeast oracle = new HeldAtLeast(() -> now);

        private void granted(int client, long token) {
            oracle.granted(new Grant("n", 0, 1, client, client, 1, token, token, token, TTL, 2 * TTL));
        }

        private void used(int client, long token) {
            oracle.began(new Hand(client, token));
        }

        @Test
        void whoComesAfterItsTimePasses() {
            passes(() -> {
                granted(1, 1);
                used(1, 1);
                now = 2 * TTL;
                granted(2, 11);
            });
        }

        @Test
        void whoComesTooEarlyIsFound() {
            granted(1, 1);
            used(1, 1);
            now = 2 * TTL - TTL / 10;
            violates("R20", () -> oracle.granted(grant(2, 11)));
        }

        @Test
        void whatNobodyUsedPassesOn() {
            passes(() -> {
                granted(1, 1);
                oracle.granted(grant(2, 11));
            });
        }

        @Test
        void whatIsBrokenPassesOn() {
            passes(() -> {
                granted(1, 1);
                used(1, 1);
                oracle.breaking("n", 1);
                oracle.granted(grant(2, 11));
            });
        }

        @Test
        void aBreakOfAnotherTokenFreesNothing() {
            granted(1, 1);
            used(1, 1);
            oracle.breaking("n", 2);
            violates("R20", () -> oracle.granted(grant(2, 11)));
        }

        @Test
        void aReassertionPasses() {
            passes(() -> {
                granted(1, 1);
                used(1, 1);
                oracle.granted(grant(2, 1, 1));
            });
        }
    }

    @Nested
    class FirstComeFirstServedR11 {
        private final Ears ears = new Ears();
        private final FirstComeFirstServed oracle = new FirstComeFirstServed(ears);

        private void ask(int client, long request, long asked) {
            oracle.asked(new Ask("n", client, client, 1, request, TTL, asked, request));
        }

        @Test
        void theFirstPasses() {
            passes(() -> {
                ask(1, 1, 0);
                ask(2, 11, 5);
                oracle.granted(grant(1, 1));
                oracle.granted(grant(2, 11));
            });
        }

        @Test
        void overtakingIsFound() {
            ask(1, 1, 0);
            ask(2, 11, 5);
            violates("R11", () -> oracle.granted(grant(2, 11)));
        }

        @Test
        void whoWasNotHeardIsPassedOver() {
            passes(() -> {
                ask(1, 1, 0);
                ask(2, 11, 5);
                ears.now = TTL / 2;
                oracle.granted(grant(2, 11));
            });
        }

        @Test
        void whoLeftIsNotWaitedFor() {
            passes(() -> {
                ask(1, 1, 0);
                ask(2, 11, 5);
                ask(3, 21, 6);
                oracle.withdrawn("n", 1, 1);
                oracle.sessionEnded("n", 2);
                oracle.granted(grant(3, 21));
            });
        }
    }
}
