// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.testing.Nemesis;
import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of an ensemble of three and of four clients, all processes, which share eight names while servers
 * and clients are killed, stopped, ended and started: no two holders (R1), no two believers (R2), time to stop (R3),
 * tokens that rise (R5), expiry neither early nor unnoticed (R7); and everybody goes on after the heal.
 * {@code -Dkeyway.seed} and {@code -Dkeyway.histories} choose others.
 */
@Tag("soak")
class EnsembleHistoryTest {
    private static final Duration TTL = Duration.ofSeconds(2);
    private static final int WORKERS = 4;
    private static final int NAMES = 8;

    @TempDir
    private Path directory;

    @Test
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void manyHistories() throws Exception {
        int count = Integer.getInteger("keyway.histories", 5);
        long seed = Long.getLong("keyway.seed", 1);
        try (ServerProcesses servers = new ServerProcesses(directory);
                Nemesis nemesis = new Nemesis(
                        new WorkerPool(directory, servers.url(TTL), NAMES, false),
                        servers,
                        WORKERS,
                        NAMES,
                        TTL.multipliedBy(3).dividedBy(2))) {
            System.out.println(nemesis.histories(count, seed));
        }
    }
}
