// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.keyway.lock.group.GroupOptions;
import io.keyway.lock.testing.GroupTrial;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes of an election that talk with each other, where the server tells of changes. */
class GroupTest {
    @TempDir
    private Path directory;

    @Test
    void theNextLeaderGoesOnWhereTheFirstOneGaveUp() throws Exception {
        try (OneServer server = new OneServer(directory)) {
            assertThatCode(() -> GroupTrial.goesOnWhereTheFirstOneGaveUp(
                            "lock:zookeeper://" + server.address() + "/keyway", GroupOptions.defaults()))
                    .doesNotThrowAnyException();
        }
    }
}
