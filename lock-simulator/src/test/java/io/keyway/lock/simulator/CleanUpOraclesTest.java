// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static io.keyway.lock.simulator.LeaseOraclesTest.passes;
import static io.keyway.lock.simulator.LeaseOraclesTest.violates;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Who is served in the end, what is left over, and what ends too early or too late: hand-made ends, good and bad. */
class CleanUpOraclesTest {
    @Nested
    class LivenessR15 {
        private final Liveness oracle = new Liveness(100);

        @Test
        void whoWaitsForAWhilePasses() {
            passes(() -> oracle.check(100, "client1"));
            passes(() -> oracle.check(1000, ""));
        }

        @Test
        void whoWaitsForEverIsFound() {
            violates("R15", () -> oracle.check(101, "client1"));
        }
    }

    @Nested
    class GivenBackR17R18 {
        private final GivenBack oracle = new GivenBack();
        private final Grant grant = new Grant("n", 0, 1, 7, 1, 1, 5, 11, 19, LeaseOraclesTest.TTL, 0);

        @BeforeEach
        void itIsGranted() {
            oracle.granted(grant);
        }

        @Test
        void whatEndsAtTheWordOfItsClientPasses() {
            passes(() -> {
                oracle.ended(grant, Grant.End.GIVEN_BACK);
                oracle.released("n", 0, 7, 12);
                oracle.withdrawn("n", 0, 7, 5);
            });
        }

        @Test
        void whatIsSaidOfOtherGrantsPasses() {
            passes(() -> {
                oracle.released("n", 0, 7, 20);
                oracle.released("n", 0, 8, 11);
                oracle.released("n", 1, 7, 11);
                oracle.withdrawn("n", 0, 7, 6);
                oracle.withdrawn("n", 0, 8, 5);
            });
        }

        @Test
        void aGrantThatOutlastsItsReleaseIsFound() {
            violates("R17", () -> oracle.released("n", 0, 7, 12));
        }

        @Test
        void aGrantThatOutlastsItsWithdrawalIsFound() {
            violates("R18", () -> oracle.withdrawn("n", 0, 7, 5));
        }
    }

    @Nested
    class HeldOverRestartsR7 {
        private final HeldOverRestarts oracle = new HeldOverRestarts();
        private final Hand use = new Hand(1, 1);

        @Test
        void whatIsBrokenOrDeniedAfterItsTimePasses() {
            passes(() -> oracle.finished(use, Use.Finish.BROKEN));
            passes(() -> oracle.finished(use.at(use.deadline()), Use.Finish.DENIED));
        }

        @Test
        void whatIsDeniedBeforeIsFound() {
            violates("R7", () -> oracle.finished(use.at(use.deadline() - 1), Use.Finish.DENIED));
        }
    }

    @Nested
    class NoLeakR16 {
        private final NoLeak oracle = new NoLeak(100);

        @Test
        void whatIsCleanedUpInTimePasses() {
            passes(() -> oracle.check(100, "a machine"));
            passes(() -> oracle.check(1000, ""));
        }

        @Test
        void whatStaysIsFound() {
            violates("R16", () -> oracle.check(101, "a machine"));
        }
    }

    @Nested
    class DeadClientsR16 implements DeadClients.Authority {
        private final DeadClients oracle = new DeadClients(this, 100, 200);
        private boolean session = true;
        private boolean remembered = true;
        private long silence;
        private String orphan = "";

        @Override
        public long silence(int client, int life) {
            return silence;
        }

        @Override
        public boolean hasSession(int client, int life) {
            return session;
        }

        @Override
        public boolean remembers(int client, int life) {
            return remembered;
        }

        @Override
        public String orphan() {
            return orphan;
        }

        @Test
        void aSessionMayStandUntilItWasSilentForTooLong() {
            oracle.died(1, 1);
            silence = 100;
            passes(() -> assertThat(oracle.looked()).isTrue());
        }

        @Test
        void aSessionThatStandsIsFound() {
            oracle.died(1, 1);
            silence = 101;
            violates("R16", oracle::looked);
        }

        @Test
        void theNumberOfALinkMayBeRememberedLonger() {
            oracle.died(1, 1);
            session = false;
            silence = 200;
            passes(oracle::looked);
        }

        @Test
        void whatIsRememberedForEverIsFound() {
            oracle.died(1, 1);
            session = false;
            silence = 201;
            violates("R16", oracle::looked);
        }

        @Test
        void whoLivesMayBeSilent() {
            silence = 1000;
            passes(() -> assertThat(oracle.looked()).isFalse());
        }

        @Test
        void aGrantWithoutASessionIsFound() {
            orphan = "token 7 of session 3";
            violates("R16", oracle::looked);
        }
    }
}
