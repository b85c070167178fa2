// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static io.keyway.lock.LockMode.EXCLUSIVE;
import static io.keyway.lock.LockMode.PERMITS;
import static io.keyway.lock.LockMode.SHARED;
import static io.keyway.lock.simulator.LeaseOraclesTest.TTL;
import static io.keyway.lock.simulator.LeaseOraclesTest.passes;
import static io.keyway.lock.simulator.LeaseOraclesTest.violates;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.simulator.FirstComeFirstServed.Ask;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/**
 * Each oracle judges what several may hold, or change the mode of: it finds a bad history, and lets a good one pass.
 */
class ModeOraclesTest {
    private static Grant grant(LockMode mode, int client, long token, long from) {
        return new Grant(
                "n", 0, 1, client, client, 1, token, token, token + 9, TTL, 0, mode, 1, mode == PERMITS ? 3 : 1, from);
    }

    private static Grant grant(LockMode mode, int client, long token) {
        return grant(mode, client, token, 0);
    }

    private static Grant permits(int client, long token, int permits, int capacity) {
        return new Grant("n", 0, 1, client, client, 1, token, token, token, TTL, 0, PERMITS, permits, capacity, 0);
    }

    private static Hand reader(int client, long token) {
        return new Hand(client, token, SHARED, 1, 1);
    }

    @Nested
    class AuthorityExclusionR1 {
        private final AuthorityExclusion oracle = new AuthorityExclusion(null, (old, next) -> true);

        @Test
        void readersTogetherPass() {
            passes(() -> {
                oracle.granted(grant(SHARED, 1, 1));
                oracle.granted(grant(SHARED, 2, 11));
                oracle.granted(grant(SHARED, 2, 21));
            });
        }

        @Test
        void permitsTogetherPass() {
            passes(() -> {
                oracle.granted(grant(PERMITS, 1, 1));
                oracle.granted(grant(PERMITS, 2, 11));
            });
        }

        @Test
        void aWriterBesideReadersIsFound() {
            oracle.granted(grant(SHARED, 1, 1));
            oracle.granted(grant(SHARED, 2, 11));
            oracle.ended(grant(SHARED, 1, 1), Grant.End.GIVEN_BACK);
            violates("R1", () -> oracle.granted(grant(EXCLUSIVE, 1, 21)));
        }

        @Test
        void aReaderBesideAWriterIsFound() {
            oracle.granted(grant(EXCLUSIVE, 1, 1));
            violates("R1", () -> oracle.granted(grant(SHARED, 2, 11)));
        }

        @Test
        void aChangeOfModePasses() {
            passes(() -> {
                oracle.granted(grant(SHARED, 1, 1));
                oracle.ended(grant(SHARED, 1, 1), Grant.End.CONVERTED);
                oracle.granted(grant(EXCLUSIVE, 1, 11, 1));
            });
        }
    }

    @Nested
    class BeliefExclusionR2 {
        private final BeliefExclusion oracle = new BeliefExclusion();

        @Test
        void readersWhoBelievePass() {
            passes(() -> {
                oracle.began(reader(1, 1));
                oracle.began(reader(2, 11));
            });
        }

        @Test
        void aWriterWhoBelievesBesideAReaderIsFound() {
            oracle.began(reader(1, 1));
            violates("R2", () -> oracle.began(new Hand(2, 11)));
        }
    }

    @Nested
    class ReactionWindowR3 {
        private final ReactionWindow oracle = new ReactionWindow(0, 0);

        private void lost() {
            Hand old = reader(1, 1);
            oracle.began(old.at(750));
            oracle.finished(old, Use.Finish.LOST);
        }

        @Test
        void aReaderWhoLostLeavesReadersAlone() {
            passes(() -> {
                lost();
                oracle.began(reader(2, 11));
            });
        }

        @Test
        void aWriterWithinTheTimeOfAReaderIsFound() {
            lost();
            violates("R3", () -> oracle.began(new Hand(2, 11)));
        }
    }

    /** Where each member grants to its own clients. */
    @Nested
    class TokenOrderOfMembersR5 {
        private final TokenOrder oracle = new TokenOrder(false, true);

        @Test
        void readersBesideEachOtherPassInAnyOrder() {
            passes(() -> {
                oracle.granted(grant(SHARED, 2, 11));
                oracle.granted(grant(SHARED, 1, 1));
                oracle.began(reader(1, 1));
                oracle.began(reader(2, 11));
                oracle.granted(grant(EXCLUSIVE, 3, 21));
            });
        }

        @Test
        void aReaderWithALowerTokenThanAWriterBeforeItIsFound() {
            oracle.granted(grant(EXCLUSIVE, 1, 11));
            violates("R5", () -> oracle.granted(grant(SHARED, 2, 1)));
        }

        @Test
        void aWriterWithALowerTokenThanAReaderBeforeItIsFound() {
            oracle.granted(grant(SHARED, 1, 11));
            violates("R5", () -> oracle.granted(grant(EXCLUSIVE, 2, 1)));
        }

        @Test
        void aReaderThatAskedAfterOneWithAHigherTokenIsFound() {
            oracle.granted(grant(SHARED, 1, 11));
            Owner owner = new Owner("c", Map.of());
            Key key = LeaseKeys.lock("n");
            oracle.came("n", new LockMessage.Acquire(key, 1, SHARED, 1, 1, TTL, false, false, false, 0, 0, owner));
            violates("R5", () -> oracle.granted(grant(SHARED, 2, 1)));
        }
    }

    @Nested
    class TokenOrderR5 {
        private final TokenOrder oracle = new TokenOrder();

        @Test
        void eachOfSeveralUsesItsOwnTokens() {
            passes(() -> {
                oracle.granted(grant(SHARED, 1, 1));
                oracle.granted(grant(SHARED, 2, 11));
                oracle.began(reader(2, 11));
                oracle.began(reader(1, 1));
                oracle.began(reader(1, 2));
            });
        }

        @Test
        void aTokenOfAnOlderGrantThatComesTwiceIsFound() {
            oracle.granted(grant(SHARED, 1, 1));
            oracle.granted(grant(SHARED, 2, 11));
            oracle.began(reader(1, 1));
            violates("R5", () -> oracle.began(reader(1, 1)));
        }

        @Test
        void aTokenOfAnotherClientIsFound() {
            oracle.granted(grant(SHARED, 1, 1));
            oracle.granted(grant(SHARED, 2, 11));
            violates("R5", () -> oracle.began(reader(1, 11)));
        }

        @Test
        void aModeThatChangesBackKeepsItsToken() {
            passes(() -> {
                oracle.granted(grant(SHARED, 1, 1));
                oracle.granted(grant(EXCLUSIVE, 1, 11, 1));
                oracle.granted(grant(SHARED, 1, 1, 11));
                oracle.granted(grant(SHARED, 2, 21));
            });
        }

        @Test
        void anUpgradeWithoutAHigherTokenIsFound() {
            oracle.granted(grant(SHARED, 1, 11));
            violates("R5", () -> oracle.granted(grant(EXCLUSIVE, 1, 5, 11 - 10)));
        }
    }

    @Nested
    class FirstComeFirstServedR11 {
        private final Ears ears = new Ears();
        private final List<CoverageGoal> goals = new ArrayList<>();
        private final FirstComeFirstServed oracle = new FirstComeFirstServed(ears, goals::add);

        private void ask(LockMode mode, int client, boolean waits, int permits, int capacity, long converts) {
            ask(mode, client, waits, permits, capacity, converts, false);
        }

        private void ask(
                LockMode mode, int client, boolean waits, int permits, int capacity, long converts, boolean soft) {
            oracle.asked(new Ask(
                    "n",
                    client,
                    client,
                    1,
                    10L * client + 1,
                    TTL,
                    client,
                    client,
                    waits,
                    mode,
                    permits,
                    capacity,
                    converts,
                    soft));
        }

        private Grant served(LockMode mode, int client, int permits) {
            long request = 10L * client + 1;
            return new Grant("n", 0, 1, client, client, 1, request, request, request, TTL, 0, mode, permits, 1, 0);
        }

        @Test
        void aReaderBeforeAWriterThatWaitsIsFound() {
            ask(EXCLUSIVE, 1, true, 1, 1, 0);
            ask(SHARED, 2, true, 1, 1, 0);
            violates("R11", () -> oracle.granted(served(SHARED, 2, 1)));
        }

        @Test
        void aReaderThatDoesNotWaitBeforeAWriterThatDoesIsFound() {
            ask(EXCLUSIVE, 1, true, 1, 1, 0);
            ask(SHARED, 2, false, 1, 1, 0);
            violates("R11", () -> oracle.granted(served(SHARED, 2, 1)));
        }

        @Test
        void whoComesAfterASoftWriterPassesIt() {
            passes(() -> {
                ask(EXCLUSIVE, 1, true, 1, 1, 0, true);
                ask(SHARED, 2, true, 1, 1, 0);
                oracle.granted(served(SHARED, 2, 1));
                oracle.granted(served(EXCLUSIVE, 1, 1));
            });
        }

        @Test
        void aSoftWriterBeforeOneThatQueuesIsFound() {
            ask(EXCLUSIVE, 1, true, 1, 1, 0, true);
            ask(SHARED, 2, true, 1, 1, 0);
            violates("R11", () -> oracle.granted(served(EXCLUSIVE, 1, 1)));
        }

        @Test
        void whoDoesNotWaitHoldsUpNobody() {
            passes(() -> {
                ask(EXCLUSIVE, 1, false, 1, 1, 0);
                ask(SHARED, 2, true, 1, 1, 0);
                oracle.granted(served(SHARED, 2, 1));
            });
        }

        @Test
        void anUpgradeGoesFirst() {
            passes(() -> {
                ask(EXCLUSIVE, 1, true, 1, 1, 0);
                ask(EXCLUSIVE, 2, true, 1, 1, 7);
                oracle.granted(served(EXCLUSIVE, 2, 1));
            });
        }

        @Test
        void anybodyBeforeAnUpgradeThatWaitsIsFound() {
            ask(SHARED, 1, true, 1, 1, 0);
            ask(EXCLUSIVE, 2, true, 1, 1, 7);
            violates("R11", () -> oracle.granted(served(SHARED, 1, 1)));
        }

        @Test
        void anUpgradeOfWhatHasEndedHoldsUpNobody() {
            passes(() -> {
                ask(SHARED, 1, true, 1, 1, 0);
                ask(EXCLUSIVE, 2, true, 1, 1, 7);
                oracle.ended(grant(SHARED, 2, 7), Grant.End.EXPIRED);
                oracle.granted(served(SHARED, 1, 1));
            });
        }

        @Test
        void twoUpgradesThatWaitAreFound() {
            ask(EXCLUSIVE, 1, true, 1, 1, 3);
            oracle.looked("n");
            ask(EXCLUSIVE, 2, true, 1, 1, 7);
            violates("R13", () -> oracle.looked("n"));
        }

        @Test
        void aDowngradeThatWaitsIsFound() {
            ask(SHARED, 1, true, 1, 1, 3);
            violates("R13", () -> oracle.looked("n"));
        }

        @Test
        void whomItsOwnCapacityRefusesIsPassedOverByALargerOne() {
            oracle.granted(served(PERMITS, 3, 2));
            ask(PERMITS, 1, true, 1, 2, 0);
            ask(PERMITS, 2, true, 1, 3, 0);
            passes(() -> oracle.granted(served(PERMITS, 2, 1)));
            assertThat(goals).containsExactly(PermitGoal.SMALLER_VIEW_PASSED_OVER);
        }

        @Test
        void aLargeRequestIsNotPassedOverByASmallOneOfEqualCapacity() {
            oracle.granted(served(PERMITS, 3, 2));
            ask(PERMITS, 1, true, 2, 3, 0);
            ask(PERMITS, 2, true, 1, 3, 0);
            violates("R11", () -> oracle.granted(served(PERMITS, 2, 1)));
        }

        @Test
        void whoWaitsBehindOneThatItsCapacityRefusesIsPassedOverWithIt() {
            oracle.granted(served(PERMITS, 3, 1));
            ask(PERMITS, 1, true, 2, 2, 0);
            ask(PERMITS, 2, true, 1, 2, 0);
            ask(PERMITS, 4, true, 2, 3, 0);
            passes(() -> oracle.granted(served(PERMITS, 4, 2)));
        }

        @Test
        void whoWaitsBehindOneThatItsCapacityRefusesDoesNotPassIt() {
            oracle.granted(served(PERMITS, 3, 1));
            ask(PERMITS, 1, true, 2, 2, 0);
            ask(PERMITS, 2, true, 1, 2, 0);
            violates("R11", () -> oracle.granted(served(PERMITS, 2, 1)));
        }

        @Test
        void whoFitsIsNotPassedOverByALargerView() {
            ask(PERMITS, 1, true, 1, 2, 0);
            ask(PERMITS, 2, true, 1, 3, 0);
            violates("R11", () -> oracle.granted(served(PERMITS, 2, 1)));
        }
    }

    @Nested
    class TimesWithoutReadersR11 {
        private long now;
        private final TimesWithoutReaders oracle = new TimesWithoutReaders(() -> now);

        private void asks() {
            oracle.came(
                    "n",
                    new LockMessage.Acquire(
                            LeaseKeys.lock("n"),
                            1,
                            EXCLUSIVE,
                            1,
                            1,
                            1,
                            TTL,
                            false,
                            false,
                            true,
                            0,
                            0,
                            0,
                            0,
                            1_000,
                            new Owner("c", Map.of())));
        }

        private Grant written() {
            return new Grant("n", 0, 1, 1, 1, 1, 1, 50, 50, TTL, 0, EXCLUSIVE, 1, 1, 0);
        }

        private Grant read() {
            return new Grant("n", 0, 1, 2, 2, 1, 2, 10, 19, TTL, 0, SHARED, 1, 1, 0);
        }

        @Test
        void aSoftWriterAfterItsTimePasses() {
            passes(() -> {
                oracle.granted(read());
                asks();
                now = 1_000;
                oracle.granted(written());
            });
        }

        @Test
        void oneBeforeItsTimeIsFound() {
            asks();
            now = 900;
            violates("R11", () -> oracle.granted(written()));
        }

        @Test
        void aReaderBeginsTheTimeAnew() {
            asks();
            now = 500;
            oracle.granted(read());
            now = 1_400;
            violates("R11", () -> oracle.granted(written()));
        }

        @Test
        void aReaderThatACacheServesBeginsTheTimeAnew() {
            asks();
            now = 500;
            Hand cached = reader(2, 12);
            cached.reused = true;
            oracle.began(cached);
            now = 1_400;
            violates("R11", () -> oracle.granted(written()));
        }
    }

    @Nested
    class PermitBoundsR12 {
        private long believed;
        private final PermitBounds oracle = new PermitBounds((name, except) -> believed);

        private Hand user(int client, long token, int permits, int capacity) {
            return new Hand(client, token, PERMITS, permits, capacity);
        }

        @Test
        void asManyAsThereArePass() {
            passes(() -> {
                oracle.granted(permits(1, 1, 1, 3));
                oracle.granted(permits(2, 2, 2, 3));
                oracle.ended(permits(1, 1, 1, 3), Grant.End.EXPIRED);
                oracle.granted(permits(3, 3, 1, 3));
            });
        }

        @Test
        void aLargerViewMayBringMore() {
            passes(() -> {
                oracle.granted(permits(1, 1, 3, 3));
                oracle.granted(permits(2, 2, 1, 4));
            });
        }

        @Test
        void oneTooManyIsFound() {
            oracle.granted(permits(1, 1, 2, 3));
            violates("R12", () -> oracle.granted(permits(2, 2, 2, 3)));
        }

        @Test
        void theCapacityOfAnotherIsFound() {
            oracle.granted(permits(1, 1, 2, 3));
            violates("R12", () -> oracle.granted(permits(2, 2, 1, 2)));
        }

        @Test
        void whatIsReassertedIsNotCountedAgain() {
            passes(() -> {
                oracle.granted(permits(1, 1, 2, 2));
                oracle.ended(permits(1, 1, 2, 2), Grant.End.FORGOTTEN);
                oracle.granted(permits(2, 2, 2, 0));
                oracle.granted(permits(1, 1, 2, 0));
            });
        }

        @Test
        void aGrantBesideWhatAClientStillBelievesInIsFound() {
            believed = 2;
            violates("R12", () -> oracle.granted(permits(2, 2, 2, 3)));
        }

        @Test
        void aCachedPermitBeyondItsUsersViewIsFound() {
            oracle.began(user(1, 11, 3, 4));
            Hand cached = user(2, 2, 1, 3);
            cached.reused = true;
            violates("R12", () -> oracle.began(cached));
        }

        @Test
        void whatIsToldLateIsJudgedByWhatWasOutBefore() {
            passes(() -> {
                oracle.began(user(1, 11, 3, 4));
                oracle.began(user(2, 2, 1, 3));
            });
        }

        @Test
        void aUseThatIsOverCountsNoMore() {
            passes(() -> {
                Hand first = user(1, 1, 3, 3);
                oracle.began(first);
                oracle.releasing(first);
                oracle.began(user(2, 2, 3, 3));
            });
        }
    }

    @Nested
    class HeldAtLeastR20 {
        private final HeldAtLeast oracle = new HeldAtLeast(() -> 0);

        private Grant kept(LockMode mode, int client, long token) {
            return new Grant("n", 0, 1, client, client, 1, token, token, token, TTL, 2 * TTL, mode, 1, 1, 0);
        }

        @Test
        void aReaderBesideWhatAReaderKeepsPasses() {
            passes(() -> {
                oracle.granted(kept(SHARED, 1, 1));
                oracle.began(reader(1, 1));
                oracle.granted(grant(SHARED, 2, 11));
            });
        }

        @Test
        void aWriterBeforeAReadersTimeIsFound() {
            oracle.granted(kept(SHARED, 1, 1));
            oracle.began(reader(1, 1));
            oracle.granted(kept(SHARED, 2, 2));
            oracle.began(reader(2, 2));
            oracle.breaking("n", 2);
            violates("R20", () -> oracle.granted(grant(EXCLUSIVE, 3, 11)));
        }
    }
}
