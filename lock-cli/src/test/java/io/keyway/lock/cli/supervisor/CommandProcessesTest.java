// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CommandProcessesTest {
    private static final String MARK = "KEYWAY_RUN_1f";

    private final Table table = new Table();
    private final CommandProcesses processes = new CommandProcesses(MARK, table, 1);

    @Test
    void theTreeBelowTheCommandBelongsToIt() {
        table.add(10, 2, "").add(11, 10, "").add(12, 11, "").add(20, 2, "");
        processes.startedAs(10);

        assertThat(pids()).containsExactlyInAnyOrder(10L, 11L, 12L);
    }

    @Test
    void whoeverCarriesTheMarkBelongsToIt() {
        table.add(30, 1, "PATH=/bin\0" + MARK + "=1\0HOME=/")
                .add(31, 1, MARK + "=1")
                .add(32, 31, "");

        assertThat(pids()).containsExactlyInAnyOrder(30L, 31L, 32L);
    }

    @Test
    void anotherRunsMarkIsNotOurs() {
        table.add(30, 1, MARK + "0=1").add(31, 1, "X=" + MARK + "=1").add(32, 1, "KEYWAY_RUN_1=1");

        assertThat(pids()).isEmpty();
    }

    @Test
    void oneThatWasSeenStaysKnownWhenItLeavesTheTree() {
        table.add(10, 2, "").add(11, 10, "");
        processes.startedAs(10);
        assertThat(pids()).contains(11L);
        table.remove(10).remove(11).add(11, 1, "");

        assertThat(pids()).containsExactly(11L);
    }

    @Test
    void aPidThatIsUsedAgainIsSomebodyElse() {
        table.add(10, 2, "");
        processes.startedAs(10);
        table.remove(10).addStartedAt(10, 2, 999);

        assertThat(pids()).isEmpty();
    }

    @Test
    void theSupervisorDoesNotCountItself() {
        table.add(1, 0, MARK + "=1");

        assertThat(pids()).isEmpty();
    }

    @Test
    void aProcessThatServesOthersTooIsLeftAlone() {
        table.add(10, 2, MARK + "=1").add(11, 10, MARK + "=1\0" + CommandProcesses.DETACHED + "=1");
        processes.startedAs(10);

        assertThat(pids()).containsExactly(10L);
    }

    @Test
    void theSupervisorOfAnInnerRunIsNotAmongThoseThatRun() {
        table.add(10, 2, MARK + "=1").add(11, 10, MARK + "=1\0" + CommandProcesses.SUPERVISOR + "=1");
        processes.startedAs(10);

        assertThat(pids()).containsExactly(10L);
    }

    @Test
    void statIsReadAroundANameWithBracketsAndSpaces() {
        String stat = "42 (a) b (c) S 7 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";

        assertThat(ProcTable.parse(42, stat)).isEqualTo(new ProcessEntry(42, 7, 12345, "a) b (c"));
    }

    @Test
    void aZombieOrAnEmptyFileIsNoProcess() {
        assertThat(ProcTable.parse(42, "42 (a) Z 7 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0"))
                .isNull();
        assertThat(ProcTable.parse(42, "")).isNull();
    }

    @Test
    void bothTablesKnowThisProcessAndItsParent() {
        ProcessHandle self = ProcessHandle.current();
        long parent = self.parent().orElseThrow().pid();
        for (ProcessTable each : List.of(CommandProcesses.tableOfThisMachine(), new HandleTable())) {
            assertThat(each.find(self.pid()))
                    .isNotNull()
                    .satisfies(entry -> assertThat(entry.parent()).isEqualTo(parent));
            assertThat(each.all()).extracting(ProcessEntry::pid).contains(self.pid(), parent);
        }
    }

    private List<Long> pids() {
        return processes.running().stream().map(ProcessEntry::pid).toList();
    }

    private static final class Table implements ProcessTable {
        private final List<ProcessEntry> entries = new ArrayList<>();
        private final Map<Long, String> environments = new HashMap<>();

        Table add(long pid, long parent, String environment) {
            environments.put(pid, environment);
            return addStartedAt(pid, parent, 500);
        }

        Table addStartedAt(long pid, long parent, long started) {
            entries.add(new ProcessEntry(pid, parent, started, "p" + pid));
            return this;
        }

        Table remove(long pid) {
            entries.removeIf(entry -> entry.pid() == pid);
            return this;
        }

        @Override
        public List<ProcessEntry> all() {
            return List.copyOf(entries);
        }

        @Override
        public @Nullable ProcessEntry find(long pid) {
            return entries.stream()
                    .filter(entry -> entry.pid() == pid)
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public byte[] environment(long pid) {
            return environments.getOrDefault(pid, "").getBytes(StandardCharsets.UTF_8);
        }
    }
}
