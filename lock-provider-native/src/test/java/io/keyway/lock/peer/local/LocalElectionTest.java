// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.testing.ElectionHistories;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Elections among the processes of one machine, of which one serves; {@code -Dkeyway.seed} chooses others. */
@Tag("soak")
class LocalElectionTest {
    @TempDir
    private Path directory;

    @Test
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void manyHistories() throws Exception {
        String url = "lock:native:local://" + directory.resolve("locks") + "?maxTtl=2s&ttl="
                + ElectionHistories.TTL.toMillis() + "ms";
        try (ElectionHistories elections = ElectionHistories.at(url, directory, true)) {
            System.out.println(
                    elections.run(Integer.getInteger("keyway.histories", 20), Long.getLong("keyway.seed", 1)));
        }
    }
}
