// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three members and six clients, all processes, which share eight names while processes are killed, stopped, ended and started, with and without their data, and links are cut, delayed, slowed and
 * reset: no two holders (R1), no two believers (R2), tokens that rise (R5), expiry neither early nor unnoticed (R7); and after the heal everybody has each lock once within ttl + 3 s, or that and a quarantine if a member
 * was started. {@code -Dkeyway.seed} and {@code -Dkeyway.histories} choose others.
 */
class ClusterHistoryTest {
    @TempDir
    Path directory;

    @Test
    @Timeout(300)
    void aFewHistories() throws Exception {
        histories(2, 20261121);
    }

    @Test
    @Tag("soak")
    @Timeout(3_600)
    void manyHistories() throws Exception {
        histories(Integer.getInteger("keyway.histories", 200), Long.getLong("keyway.seed", 1));
    }

    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    private void histories(int count, long seed) throws Exception {
        try (Havoc havoc = new Havoc(directory)) {
            havoc.begin();
            for (int i = 0; i < count; i++) {
                havoc.history(seed + i);
            }
            havoc.endAndCheck();
            System.out.println(count + " histories from seed " + seed + ": " + havoc.sums());
        }
    }
}
