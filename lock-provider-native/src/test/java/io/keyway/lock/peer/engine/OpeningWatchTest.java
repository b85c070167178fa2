// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.Opening;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.WelcomeInfo;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpeningWatchTest {
    private static final long SECOND = 1_000_000_000;
    private static final Key KEY = LeaseKeys.lock("n");
    private static final LockNotice.Trouble OPENS =
            new LockNotice.Trouble(KEY, 7, RefusalCause.OPENING.why(), true, "user");

    private final OpeningWatch watch = new OpeningWatch();

    private static WelcomeInfo greeting(long quarantine) {
        return greeting(quarantine, false);
    }

    private static WelcomeInfo greeting(long quarantine, boolean fresh) {
        return new WelcomeInfo("a:1", new Incarnation(1, 2), 3, 0, quarantine, List.of("a:1"), 1, fresh, 60 * SECOND);
    }

    @Test
    void aClusterThatRunsForTheFirstTimeIsNotSaidToWaitForALease() {
        watch.greeted(greeting(60 * SECOND, true), 0);

        assertThat(watch.opening("a:1", 0))
                .map(Opening::toString)
                .contains("a:1 runs for the first time, and waits until all members of its list have answered");
    }

    @Test
    void whoWaitsForAMemberAndForNobodyElseHearsForHowLong() {
        watch.greeted(greeting(40 * SECOND), 5);

        assertThat(watch.opening("a:1", 5 + SECOND)).contains(new Opening("a:1", Duration.ofSeconds(39), false));
        assertThat(watch.why(OPENS, "a:1", 5 + SECOND))
                .contains("a:1 was just started, or has taken over, and grants nothing for another 39s");
        assertThat(watch.why(OPENS.because("b:1 does not answer"), "a:1", 5 + SECOND))
                .isEmpty();
        assertThat(watch.why(OPENS, "a:1", 50 * SECOND)).isEmpty();
    }

    @Test
    void theTimeIsThatOfTheLastWelcome() {
        WelcomeInfo first = greeting(40 * SECOND);
        watch.greeted(null, 0);
        assertThat(watch.opening("a:1", 0)).isEmpty();
        watch.greeted(first, 0);
        watch.greeted(first, 30 * SECOND);
        assertThat(watch.opening("a:1", 40 * SECOND)).isEmpty();
        watch.greeted(greeting(40 * SECOND), 30 * SECOND);
        assertThat(watch.opening("a:1", 40 * SECOND)).contains(new Opening("a:1", Duration.ofSeconds(30), false));
        watch.greeted(greeting(0), 41 * SECOND);
        assertThat(watch.opening("a:1", 41 * SECOND)).isEmpty();
    }
}
