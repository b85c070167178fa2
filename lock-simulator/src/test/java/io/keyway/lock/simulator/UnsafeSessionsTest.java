// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.simulator.Options.Profile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sessions of a member that are broken on purpose, by what they are fed with: the simulator must notice. */
class UnsafeSessionsTest {
    enum Flaw {
        /** Takes each message twice. */
        TAKES_DOUBLES("ORDER"),
        /** Takes what it should only take after something that is missing. */
        IGNORES_GAPS("ORDER"),
        /** Its clock for expiry runs ahead. */
        EXPIRES_EARLY("EXPIRY");

        final String property;

        Flaw(String property) {
            this.property = property;
        }
    }

    @ParameterizedTest
    @EnumSource
    void isFound(Flaw flaw) {
        Campaign campaign = new Campaign(
                Profile.SESSION,
                world -> new SessionModel(world, meddler(flaw, world.options().maxTtl())),
                SessionModel::acts);
        for (long seed = 0; seed < 3000; seed++) {
            RunResult result = campaign.run(seed);
            if (result.violation() != null && result.violation().property().equals(flaw.property)) {
                Shrunk.isSmall(flaw, campaign.shrink(result));
                return;
            }
        }
        throw new AssertionError(flaw + " was not found");
    }

    /** Comes before the member's session layer and feeds it with what no link would. */
    private static SessionModel.Meddler meddler(Flaw flaw, long maxTtl) {
        return (member, link, data) -> {
            int size = data.messages().size();
            switch (flaw) {
                case TAKES_DOUBLES -> {
                    if (size > 0) {
                        member.input(new Input.Arrived(link, data));
                        member.input(new Input.Arrived(link, numbered(data, data.seq() + size)));
                    }
                }
                case IGNORES_GAPS -> {
                    for (long seq = Math.max(1, data.seq() - 3); size > 0 && seq < data.seq(); seq++) {
                        member.input(new Input.Arrived(link, numbered(data, seq)));
                    }
                }
                case EXPIRES_EARLY -> member.input(new Input.Stalled(-maxTtl / 2));
            }
        };
    }

    private static Data numbered(Data data, long seq) {
        return new Data(data.session(), seq, data.ack(), data.stamped(), data.stamp(), data.clock(), data.messages());
    }
}
