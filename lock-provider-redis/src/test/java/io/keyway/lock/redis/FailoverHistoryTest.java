// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.redis.server.SentinelSet;
import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that take the same locks at random, and hold them for up to a ttl and more, while one master after the
 * other is killed; a fail-over takes less than a ttl, so that some are held all through it.
 */
@Tag("soak")
class FailoverHistoryTest {
    private static final int WORKERS = 3;
    private static final int NAMES = 12;
    private static final int ROUNDS = 3;

    @TempDir
    private Path directory;

    @Test
    void allGoOnAfterEachFailoverAndNoRuleIsBroken() throws Exception {
        try (SentinelSet set = SentinelSet.start(RedisExecutable.brought(), directory);
                WorkerPool crew = new WorkerPool(directory, set.url() + "?waitReplicas=2&ttl=8s", NAMES, false)) {
            for (int i = 0; i < WORKERS; i++) {
                crew.start();
            }
            crew.awaitProgress("at the start");
            for (int round = 0; round < ROUNDS; round++) {
                RedisServer master = set.awaitMaster();
                master.kill();
                set.awaitOtherMaster(master);
                master.restart();
                set.awaitReplica(master);
                crew.awaitProgress("after fail-over " + round);
                crew.check("fail-over " + round);
            }
            crew.endAndCheck("fail-overs", 100);
        }
    }
}
