// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.testing.FloorsBesideUse;
import java.nio.file.Path;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kit on an ensemble that applications use. */
class TestPlaceTest {
    @Test
    void theKitLeavesAnEnsembleAsItFoundIt(@TempDir Path directory) throws Exception {
        try (OneServer server = new OneServer(directory)) {
            assertThat(FloorsBesideUse.tokensUsed(server.url(), server.url() + "?tokenFloor=100"))
                    .isBetween(1L, 1L << 40);
            try (LockClient client = Locks.open(server.url())) {
                client.lock("any").acquire().release();
                assertThat(client.unwrap(CuratorFramework.class).getChildren().forPath("/keyway"))
                        .noneMatch(node -> node.startsWith("tck-"));
            }
        }
    }
}
