// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.testing.FloorsBesideUse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kit on a server that applications use. */
class TestPlaceTest {
    @Test
    void theKitLeavesAServerAsItFoundIt(@TempDir Path directory) throws Exception {
        try (RedisServer server = RedisServer.start(directory)) {
            assertThat(FloorsBesideUse.tokensUsed(server.url(), server.url("tokenFloor=100")))
                    .isBetween(1L, 1L << 40);
            assertThat((List<?>) server.ask("KEYS", "keyway:tck-*")).isEmpty();
        }
    }
}
