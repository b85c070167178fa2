// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeadlineTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @Test
    void tellsWhatIsLeft() {
        Deadline deadline = Deadline.after(HOUR);
        long first = deadline.nanos();
        assertThat(first).isBetween(HOUR.dividedBy(2).toNanos(), HOUR.toNanos());
        assertThat(deadline.nanos()).isLessThanOrEqualTo(first);
        assertThat(deadline.millis()).isBetween((int) HOUR.dividedBy(2).toMillis(), (int) HOUR.toMillis());
        assertThat(deadline.seconds()).isBetween((int) HOUR.dividedBy(2).toSeconds(), (int) HOUR.toSeconds());
        assertThatCode(() -> deadline.check("it began")).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT-1000H"})
    void leavesNothingOfALimitThatIsOver(Duration limit) {
        Deadline deadline = Deadline.after(limit);
        assertThat(deadline.nanos()).isZero();
        assertThat(deadline.millis()).as("0 would be without end").isEqualTo(1);
        assertThatExceptionOfType(NotExecutedException.class)
                .isThrownBy(() -> deadline.check("a connection was free"))
                .withMessage("the time was over before a connection was free");
    }

    @Test
    void lessThanAMillisecondIsOne() {
        assertThat(Deadline.after(Duration.ofNanos(1_000)).millis()).isEqualTo(1);
        assertThat(Deadline.after(Duration.ofNanos(1_000)).seconds()).isEqualTo(1);
    }

    @Test
    void moreMillisecondsThanAnIntHoldsAreTheMost() {
        assertThat(Deadline.after(Duration.ofDays(365)).millis()).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void aLimitOfCenturiesIsKeptAndALongerOneRefused() {
        assertThat(Deadline.after(Duration.ofNanos(Long.MAX_VALUE)).nanos()).isPositive();
        assertThatThrownBy(() -> Deadline.after(Duration.ofDays(365 * 300))).isInstanceOf(ArithmeticException.class);
    }

    @Test
    void theSoonerOneCounts() {
        Deadline deadline = Deadline.after(HOUR);
        assertThat(deadline.orSooner(HOUR.multipliedBy(2))).isSameAs(deadline);
        assertThat(deadline.orSooner(Duration.ofMinutes(1)).nanos())
                .isBetween(1L, Duration.ofMinutes(1).toNanos());
        assertThat(deadline.orSooner(Duration.ZERO).nanos()).isZero();
    }
}
