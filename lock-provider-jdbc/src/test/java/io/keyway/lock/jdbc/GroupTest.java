// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.keyway.lock.group.GroupOptions;
import io.keyway.lock.testing.GroupTrial;
import org.junit.jupiter.api.Test;

/** Processes of an election that talk with each other, where the store has to be asked who leads. */
class GroupTest {
    @Test
    void theNextLeaderGoesOnWhereTheFirstOneGaveUp() {
        assertThatCode(() -> GroupTrial.goesOnWhereTheFirstOneGaveUp(
                        "lock:jdbc:h2:mem:group;DB_CLOSE_DELAY=-1", GroupOptions.defaults()))
                .doesNotThrowAnyException();
    }
}
