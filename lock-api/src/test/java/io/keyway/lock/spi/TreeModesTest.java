// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TreeModesTest {
    private static final List<LockMode> MODES = List.of(
            LockMode.INTENT_SHARED,
            LockMode.INTENT_EXCLUSIVE,
            LockMode.TREE_SHARED,
            LockMode.TREE_SHARED_INTENT_EXCLUSIVE,
            LockMode.TREE_EXCLUSIVE);

    /** As in the paper of 1976: rows and columns IS, IX, S, SIX, X. */
    private static final List<String> TOGETHER = List.of("yyyyn", "yynnn", "ynynn", "ynnnn", "nnnnn");

    @Test
    void modesStandTogetherAsInThePaper() {
        for (int i = 0; i < MODES.size(); i++) {
            for (int j = 0; j < MODES.size(); j++) {
                assertThat(TreeModes.together(MODES.get(i), MODES.get(j)))
                        .as("%s beside %s", MODES.get(i), MODES.get(j))
                        .isEqualTo(TOGETHER.get(i).charAt(j) == 'y');
            }
        }
    }

    @Test
    void flatModesStandBesideNoneOfATree() {
        for (LockMode flat : EnumSet.of(LockMode.EXCLUSIVE, LockMode.SHARED, LockMode.PERMITS)) {
            for (LockMode level : MODES) {
                assertThat(TreeModes.together(flat, level)).isFalse();
                assertThat(TreeModes.together(level, flat)).isFalse();
            }
            for (LockMode other : EnumSet.of(LockMode.EXCLUSIVE, LockMode.SHARED, LockMode.PERMITS)) {
                assertThat(TreeModes.together(flat, other))
                        .isEqualTo(flat == LockMode.SHARED && other == LockMode.SHARED);
            }
        }
    }

    /** The least one that keeps out all that either of them keeps out, and serves for both. */
    @Test
    void aJoinIsTheWeakestThatIsNoWeakerThanBoth() {
        for (LockMode one : MODES) {
            for (LockMode other : MODES) {
                LockMode join = TreeModes.join(one, other);
                assertThat(TreeModes.covers(join, one)).isTrue();
                assertThat(TreeModes.covers(join, other)).isTrue();
                assertThat(TreeModes.join(other, one)).isEqualTo(join);
                for (LockMode third : MODES) {
                    if (TreeModes.covers(third, one) && TreeModes.covers(third, other)) {
                        assertThat(TreeModes.covers(third, join)).isTrue();
                    }
                    boolean besideBoth = TreeModes.together(third, one) && TreeModes.together(third, other);
                    assertThat(TreeModes.together(third, join)).isEqualTo(besideBoth);
                }
            }
        }
        assertThat(TreeModes.join(LockMode.TREE_SHARED, LockMode.INTENT_EXCLUSIVE))
                .isEqualTo(LockMode.TREE_SHARED_INTENT_EXCLUSIVE);
    }

    @Test
    void aNameHasItsLevelsFromTheRootDown() {
        assertThat(TreeModes.levels(LockName.of("a"))).containsExactly(LockName.of("a"));
        assertThat(TreeModes.levels(LockName.of("a/b b/c")))
                .containsExactly(LockName.of("a"), LockName.of("a/b b"), LockName.of("a/b b/c"));
        assertThat(TreeModes.isAtOrAbove(LockName.of("a/b"), LockName.of("a/b/c")))
                .isTrue();
        assertThat(TreeModes.isAtOrAbove(LockName.of("a/b"), LockName.of("a/bc")))
                .isFalse();
        assertThat(TreeModes.isAtOrAbove(LockName.of("a/b"), LockName.of("a"))).isFalse();
    }

    @Test
    void whatIsAskedForNeedsItsModeAndAnIntentionAbove() {
        for (LockMode asked : Set.of(LockMode.EXCLUSIVE, LockMode.SHARED)) {
            boolean writes = asked == LockMode.EXCLUSIVE;
            assertThat(TreeModes.own(asked)).isEqualTo(writes ? LockMode.TREE_EXCLUSIVE : LockMode.TREE_SHARED);
            assertThat(TreeModes.above(asked)).isEqualTo(writes ? LockMode.INTENT_EXCLUSIVE : LockMode.INTENT_SHARED);
        }
    }
}
