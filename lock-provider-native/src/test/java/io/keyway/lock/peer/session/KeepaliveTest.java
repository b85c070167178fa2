// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Turn;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How often a client speaks, and how soon it finds that nobody answers. */
class KeepaliveTest {
    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    private static Keepalive pace(long held, long waited) {
        return new Keepalive(held, waited, HOUR, TimeUnit.MILLISECONDS.toNanos(1));
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

    @Test
    void aConnectionThatIsForgottenOnTheWayIsFoundInHalfAMinuteHoweverLongTheLeases() {
        for (Keepalive pace : new Keepalive[] {
            pace(HOUR, Turn.NEVER), pace(Turn.NEVER, HOUR), pace(HOUR, HOUR), pace(Turn.NEVER, Turn.NEVER)
        }) {
            assertThat(pace.heartbeat()).isPositive().isLessThanOrEqualTo(TimeUnit.SECONDS.toNanos(15));
            assertThat(pace.heartbeat() + pace.silence()).isLessThanOrEqualTo(TimeUnit.SECONDS.toNanos(30));
        }
    }
}
