// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import java.nio.file.Path;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kit on an ensemble that applications use. */
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
    void theKitLeavesAnEnsembleAsItFoundIt(@TempDir Path directory) throws Exception {
        try (OneServer server = new OneServer(directory)) {
            checkedBeside(server.url(), server.url() + "?tokenFloor=100");
            try (LockClient client = Locks.open(server.url())) {
                client.lock("any").acquire().release();
                assertThat(client.unwrap(CuratorFramework.class).getChildren().forPath("/keyway"))
                        .noneMatch(node -> node.startsWith("tck-"));
            }
        }
    }
}
