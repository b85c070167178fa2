// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static io.keyway.lock.simulator.LeaseOraclesTest.passes;
import static io.keyway.lock.simulator.LeaseOraclesTest.violates;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Who is served in the end, and what is left over: hand-made ends, good and bad. */
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
