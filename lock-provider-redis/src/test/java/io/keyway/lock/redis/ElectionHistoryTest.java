// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.testing.ElectionHistories;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Elections at one server, from which all candidates are cut off; {@code -Dkeyway.seed} chooses others. */
@Tag("soak")
class ElectionHistoryTest {
    @TempDir
    private Path directory;

    @Test
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void manyHistories() throws Exception {
        try (RedisServer server = RedisServer.start(directory);
                ElectionHistories elections = ElectionHistories.through(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()),
                        address -> "lock:redis://" + address + "?ttl=" + ElectionHistories.TTL.toMillis() + "ms",
                        directory)) {
            System.out.println(
                    elections.run(Integer.getInteger("keyway.histories", 20), Long.getLong("keyway.seed", 1)));
        }
    }
}
