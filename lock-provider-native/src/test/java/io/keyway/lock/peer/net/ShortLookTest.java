// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a thread looks for a moment before it waits. */
class ShortLookTest {
    private static final int MANY = 64_000;

    private final ShortLook look = new ShortLook();

    @BeforeEach
    void cores() {
        assumeThat(Runtime.getRuntime().availableProcessors())
                .as("cores, of which one can look while another one answers")
                .isGreaterThan(1);
    }

    /** So often it looks in that many waits. */
    private int looks(int waits, boolean found) {
        int looks = 0;
        for (int i = 0; i < waits; i++) {
            if (look.pays()) {
                looks++;
                look.ended(found);
            }
        }
        return looks;
    }

    @Test
    void whatIsInVainIsTriedRarely() {
        assertThat(looks(MANY, false)).isBetween(1, MANY / 50);
    }

    @Test
    void whatHelpsIsDoneEachTime() {
        assertThat(looks(MANY, true)).isGreaterThan(MANY - 100);
    }

    @Test
    void itEndsSoonWhenItHelpsNoMoreHoweverWellItWent() {
        looks(MANY, true);
        assertThat(looks(MANY, false)).isLessThan(MANY / 50 + 10);
    }

    @Test
    void whatHelpsEveryOtherTimeIsGivenUp() {
        looks(MANY, true);
        int looks = 0;
        for (int i = 0; i < MANY; i++) {
            if (look.pays()) {
                look.ended(++looks % 2 == 0);
            }
        }
        assertThat(looks).isLessThan(MANY / 20);
    }

    @Test
    void whatIsInVainOnceInAWhileIsKept() {
        looks(100, true);
        int looks = 0;
        for (int i = 0; i < MANY; i++) {
            if (look.pays()) {
                look.ended(++looks % 10 != 0);
            }
        }
        assertThat(looks).isGreaterThan(MANY / 2);
    }
}
