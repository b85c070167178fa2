// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class LatenciesTest {
    @Test
    void sharesAreWithinThreePercentOfThoseOfTheSortedTimes() {
        SplittableRandom random = new SplittableRandom(1);
        long[] times = random.longs(10_000, 0, 40)
                .map(power -> 1L << power)
                .map(most -> random.nextLong(most + 1))
                .toArray();
        Latencies latencies = new Latencies();
        Arrays.stream(times).forEach(latencies::add);
        Arrays.sort(times);
        for (double share : new double[] {0.01, 0.25, 0.5, 0.9, 0.99, 0.999}) {
            long exact = times[(int) Math.ceil(share * times.length) - 1];
            assertThat((double) latencies.within(share)).isCloseTo((double) exact, Percentage.withPercentage(3.2));
        }
        assertThat(latencies.within(1)).isEqualTo(times[times.length - 1]);
        assertThat(latencies.count()).isEqualTo(times.length);
    }

    @Test
    void theLongestTimesAndNoneHaveAPlaceToo() {
        Latencies latencies = new Latencies();
        assertThat(latencies.within(0.5)).isZero();
        latencies.add(Long.MAX_VALUE);
        latencies.add(-5);
        assertThat(latencies.within(0.5)).isZero();
        assertThat(latencies.within(1)).isEqualTo(Long.MAX_VALUE);
    }
}
