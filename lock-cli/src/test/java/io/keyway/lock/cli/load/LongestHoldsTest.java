// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LongestHoldsTest {
    private final LongestHolds holds = new LongestHolds(3);

    private static LoadRecord.Span hold(long asked, long got, long ended) {
        return new LoadRecord.Span(0, 1, asked, got, ended, false);
    }

    @Test
    void allAreKeptAsLongAsThereAreFew() {
        holds.add(hold(20, 25, 26));
        holds.add(hold(0, 1, 2));
        assertThat(holds.all()).containsExactly(hold(0, 1, 2), hold(20, 25, 26));
        assertThat(holds.left()).isZero();
    }

    @Test
    void whatTookLongestIsKeptWheneverItWasAndWhetherItWaitedOrHeld() {
        LoadRecord.Span waited = hold(0, 900, 901);
        LoadRecord.Span held = hold(1_000, 1_001, 2_000);
        LoadRecord.Span both = hold(5_000, 5_400, 5_800);
        holds.add(waited);
        holds.add(held);
        for (int i = 0; i < 10; i++) {
            holds.add(hold(3_000 + i * 10, 3_001 + i * 10, 3_005 + i * 10));
        }
        holds.add(both);
        assertThat(holds.all()).containsExactly(waited, held, both);
        assertThat(holds.left()).isEqualTo(10);
    }
}
