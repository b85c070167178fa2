// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three members and six clients, all processes, whose users read, write, change from one to the
 * other and take permits of eight names while processes are killed, stopped, ended and started, with and without their
 * data, and links are cut, delayed, slowed and reset; or while each member in its turn is killed and started: no two
 * holders (R1), no two believers (R2), tokens that rise (R5), expiry neither early nor unnoticed (R7), no more permits
 * than there are (R12); and after the heal everybody has each lock once within ttl + 3 s, or that and a quarantine if a
 * member was started. {@code -Dkeyway.seed} and {@code -Dkeyway.histories} choose others.
 */
class ClusterHistoryTest {
    private static final int NAMES = 8;
    /** All faults kill a member. */
    private static final int ALL = Integer.MAX_VALUE;
    /** What they may take longer where they run beside other tests. */
    static final Duration BUSY = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @Test
    @Tag("soak")
    void aHistory() throws Exception {
        // It kills each member once, as this seed has it.
        histories(1, 20261136, false, ClusterFaults.MEMBERS, BUSY);
    }

    @Test
    @Tag("soak")
    void manyHistories() throws Exception {
        histories(Histories.MANY, Histories.SEED, false, 0, Duration.ZERO);
    }

    @Test
    @Tag("soak")
    void manyHistoriesOfMembersThatAreKilledInTurn() throws Exception {
        histories(Histories.MANY, Histories.SEED, false, ALL, Duration.ZERO);
    }

    @Test
    @Tag("soak")
    void manyHistoriesWithOtherListsAndSettings() throws Exception {
        histories(Histories.MANY, Histories.SEED, true, 0, Duration.ZERO);
    }

    /** One that cannot be passed, since everybody would have to go on before the heal. */
    @Test
    @Tag("soak")
    void aHistoryThatFailsKeepsWhatItsProcessesRecorded() throws Exception {
        Throwable failed = catchThrowable(() -> histories(1, 1, false, 0, Duration.ofDays(-1)));

        assertThat(failed).isInstanceOf(AssertionError.class).hasMessageContaining("keyway trace --files ");
        Path kept = Path.of(failed.getMessage().replaceAll("(?s).*keyway trace --files (.*) --html.*", "$1"));
        try (Stream<Path> files = Files.list(kept)) {
            List<Path> traces = files.toList();
            assertThat(traces).hasSizeGreaterThanOrEqualTo(ClusterFaults.MEMBERS + ClusterFaults.CLIENTS);
            assertThat(traces).allSatisfy(file -> assertThat(file).isNotEmptyFile());
        }
        TracesTest.delete(kept);
    }

    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    private void histories(int count, long seed, boolean changesLists, int killedInTurn, Duration busy)
            throws Exception {
        Cluster cluster = new Cluster(
                directory, ClusterFaults.MEMBERS, ClusterFaults.SPARES, ClusterFaults.CLIENTS, ClusterFaults.TTL);
        Histories all = new Histories(cluster, directory, "ClusterHistoryTest", ClusterFaults.CLIENTS, NAMES);
        ClusterFaults faults = new ClusterFaults(cluster, all.traces, all.crew, changesLists, busy);
        System.out.println(all.play(count, seed, faults.killingInTurn(killedInTurn)));
    }
}
