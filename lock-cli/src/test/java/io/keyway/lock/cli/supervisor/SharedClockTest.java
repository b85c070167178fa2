// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SharedClockTest {
    @Test
    void aReadingBetweenOursMeansOneClock() {
        assertThat(SharedClock.offset(1_000, 1_050, 1_100)).isZero();
        assertThat(SharedClock.offset(1_000, 1_000, 1_100)).isZero();
        assertThat(SharedClock.offset(1_000, 1_100, 1_100)).isZero();
    }

    @Test
    void anotherClockIsTranslatedToTheEarlySide() {
        // The other clock is 1,000,000 ahead; its reading took place at our 1,030, we received it at 1,100.
        long offset = SharedClock.offset(1_000, 1_001_030, 1_100);

        assertThat(offset).isEqualTo(999_930).isLessThan(1_000_000);
    }

    @Test
    void aClockBehindOursIsTranslatedToTheEarlySide() {
        assertThat(SharedClock.offset(1_000_000, 40, 1_000_100))
                .isEqualTo(-1_000_060)
                .isLessThan(-1_000_000 + 40);
    }
}
