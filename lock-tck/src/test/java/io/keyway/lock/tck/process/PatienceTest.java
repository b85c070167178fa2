// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PatienceTest {
    @Test
    void aLeaseIsNoLongerForTheLoadOfTheBuildItself() {
        assertThat(Patience.leaseFactor(1, 17, 2)).as("a build alone").isLessThan(1.1);
        assertThat(Patience.leaseFactor(1, -1, 2)).as("an unknown load").isEqualTo(1);
    }

    @Test
    void aLeaseIsLongerOnAMachineThatIsSlowOrHasOtherWork() {
        assertThat(Patience.leaseFactor(1, 60, 2)).as("other work").isGreaterThan(3);
        assertThat(Patience.leaseFactor(1, 17, 1)).as("one processor").isGreaterThan(2);
        assertThat(Patience.leaseFactor(3, 1, 2)).as("a slow one").isEqualTo(3);
        assertThat(Patience.leaseFactor(9, 90, 1)).as("a bound").isEqualTo(5);
    }

    @Test
    void nothingIsShorterThanOnAnIdleMachine() {
        Duration idle = Duration.ofMillis(800);
        assertThat(Patience.of(idle)).isGreaterThanOrEqualTo(idle);
        assertThat(Patience.lease(idle)).isBetween(idle, Patience.of(idle).multipliedBy(5));
        assertThat(Patience.seconds(2)).isGreaterThanOrEqualTo(2);
        assertThat(Patience.leaseSeconds(2)).isBetween(2L, 10L);
    }
}
