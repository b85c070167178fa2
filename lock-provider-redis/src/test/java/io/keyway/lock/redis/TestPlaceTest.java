// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kit on a server that applications use. */
class TestPlaceTest {
    private static final List<String> FLOORS = List.of("LK-608", "LK-609", "LK-610");

    /** An application in use, whose URL has a floor, as one that came from another store. */
    private static void checkedBeside(String url, String inUse) throws Exception {
        long before;
        try (LockClient application = Locks.open(inUse)) {
            before = application.lock("nightly").acquire().token();
        }
        TckResult result = TckRunner.run(
                TckSubject.of(url), TckConfig.of(Profile.SMOKE).withOnly(FLOORS).withParallel(1));
        assertThat(result.with(Verdict.PASS)).as("of %s", result.checks()).hasSize(FLOORS.size());
        try (LockClient application = Locks.open(inUse)) {
            long after = application.lock("nightly").acquire().token();
            assertThat(after - before).as("tokens that the kit has used up").isBetween(1L, 1L << 40);
        }
    }

    @Test
    void theKitLeavesAServerAsItFoundIt(@TempDir Path directory) throws Exception {
        try (RedisServer server = RedisServer.start(directory)) {
            checkedBeside(server.url(), server.url("tokenFloor=100"));
            assertThat((List<?>) server.ask("KEYS", "keyway:tck-*")).isEmpty();
        }
    }
}
