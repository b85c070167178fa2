// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How often a client speaks, and how soon it finds that nobody answers. */
class PaceTest {
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    private static OpenSession pace(long held, long waited) {
        return pace(held, waited, TimeUnit.MILLISECONDS.toNanos(1));
    }

    private static OpenSession pace(long held, long waited, long roundTrip) {
        OpenSession session = new OpenSession(new Peer(1), new Incarnation(1, 1), HOUR, 0);
        if (held != Turn.NEVER) {
            session.beliefs().hold(new Key(1, "a"), held);
        }
        session.pace(waited, Turn.NEVER, roundTrip);
        return session;
    }

    @Test
    void aShortLeaseSetsThePace() {
        assertThat(pace(TimeUnit.SECONDS.toNanos(3), Turn.NEVER).heartbeat())
                .isEqualTo(TimeUnit.MILLISECONDS.toNanos(1_500));
        assertThat(pace(TimeUnit.SECONDS.toNanos(3), Turn.NEVER).silence())
                .isEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
        assertThat(pace(Turn.NEVER, TimeUnit.SECONDS.toNanos(2)).heartbeat())
                .isEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
    }

    /** Belief lasts for three quarters of the lease from a stamp, and the stamp after it has to be back by then. */
    @Test
    void aStampIsSentInTimeForItsAnswerOverASlowLink() {
        long held = TimeUnit.MILLISECONDS.toNanos(500);
        for (long millis = 0; millis <= 200; millis++) {
            long roundTrip = TimeUnit.MILLISECONDS.toNanos(millis);
            long heartbeat = pace(held, Turn.NEVER, roundTrip).heartbeat();
            assertThat(heartbeat + roundTrip).as("%d ms", millis).isLessThanOrEqualTo(held / 4 * 3);
            assertThat(heartbeat).as("%d ms", millis).isBetween(held / 8, held / 2);
        }
        assertThat(pace(held, Turn.NEVER, HOUR).heartbeat()).isEqualTo(held / 8);
    }

    @Test
    void aConnectionThatIsForgottenOnTheWayIsFoundInHalfAMinuteHoweverLongTheLeases() {
        for (OpenSession pace : new OpenSession[] {
            pace(HOUR, Turn.NEVER), pace(Turn.NEVER, HOUR), pace(HOUR, HOUR), pace(Turn.NEVER, Turn.NEVER)
        }) {
            assertThat(pace.heartbeat()).isPositive().isLessThanOrEqualTo(TimeUnit.SECONDS.toNanos(15));
            assertThat(pace.heartbeat() + pace.silence()).isLessThanOrEqualTo(TimeUnit.SECONDS.toNanos(30));
        }
    }
}
