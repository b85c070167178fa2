// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kit on locks of this machine that applications use. */
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
            assertThat(after - before).as("tokens that the kit has used up").isBetween(1L, 1L << 43);
        }
    }

    @Test
    void theKitLeavesADirectoryAsItFoundIt(@TempDir Path parent) throws Exception {
        String url = "lock:native:local://" + parent.resolve("locks");
        checkedBeside(url, url + "?tokenFloor=100");
        try (Stream<Path> all = Files.list(parent)) {
            assertThat(all).containsExactly(parent.resolve("locks"));
        }
    }
}
