// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The supervisor against real commands that do not want to end. */
class SupervisorTest {
    private static final long SECOND = 1_000_000_000L;
    /** Of one test alone: the supervisor of the test before may still be killing what has its mark. */
    private final String mark = "KEYWAY_RUN_" + Long.toHexString(System.nanoTime());

    private final ProcessTable table = CommandProcesses.tableOfThisMachine();
    private final List<ChildProcess> children = new ArrayList<>();
    private SupervisorProcess supervisor;

    @BeforeEach
    void startSupervisor() throws IOException {
        supervisor = SupervisorProcess.start(mark);
        assertThat(supervisor.receive()).isNotNull().satisfies(words -> {
            assertThat(words[0]).isEqualTo(SupervisorProtocol.READY);
            assertThat(Long.parseLong(words[1]))
                    .as("one clock for both")
                    .isBetween(System.nanoTime() - Patience.seconds(60) * SECOND, System.nanoTime());
        });
    }

    @AfterEach
    void endAll() {
        supervisor.hangUp();
        children.forEach(ChildProcess::close);
    }

    @Test
    void whenThePipeEndsEverythingOfTheCommandIsKilled() throws Exception {
        ChildProcess command = command("trap '' TERM INT HUP; "
                + "sh -c 'trap \"\" TERM; echo child $$; while :; do sleep 1; done' & "
                + "setsid sh -c 'trap \"\" TERM; echo session $$; while :; do sleep 1; done' & "
                + "(sh -c 'echo orphan $$; exec sleep 300' &) ; "
                + "echo command $$; while :; do sleep 1; done");
        List<Long> pids = new ArrayList<>();
        for (String who : List.of("command", "child", "session", "orphan")) {
            pids.add(Long.parseLong(command.line(who + " ").split(" ", -1)[1]));
        }
        deadlineIn(3600 * SECOND, SECOND);
        supervisor.send(SupervisorProtocol.STARTING);
        supervisor.send(SupervisorProtocol.COMMAND + " " + command.pid());

        supervisor.hangUp();

        pids.forEach(this::awaitEnd);
        awaitEnd(supervisor.pid());
    }

    @Test
    void anOrphanIsFoundByItsMarkAlone(@TempDir Path directory) throws Exception {
        Path said = directory.resolve("said");
        // The JDK reads no further once the command has ended, so the orphan speaks first.
        ChildProcess command = command("(setsid sh -c 'echo orphan $$; : >" + said + "; exec sleep 300' >&1 &); "
                + "while [ ! -e " + said + " ]; do sleep 0.01; done");
        long orphan = Long.parseLong(command.line("orphan ").split(" ", -1)[1]);
        supervisor.send(SupervisorProtocol.STARTING);
        supervisor.send(SupervisorProtocol.COMMAND + " " + command.pid());
        command.process().waitFor();

        supervisor.send(SupervisorProtocol.KILL);

        assertThat(nextWord()).isEqualTo(SupervisorProtocol.ENDED);
        awaitEnd(orphan);
    }

    @Test
    void aCommandWhosePidWasNeverToldIsFoundByItsMark() throws Exception {
        supervisor.send(SupervisorProtocol.STARTING);
        ChildProcess command = command("echo on; exec sleep 300");
        command.line("on");

        supervisor.hangUp();

        assertThat(command.exitCode()).isEqualTo(137);
        awaitEnd(supervisor.pid());
    }

    @Test
    void atTheDeadlineTheCommandMayEndByItself() throws Exception {
        ChildProcess command = command("trap 'echo bye; exit 7' TERM; echo on; while :; do sleep 0.05; done");
        command.line("on");
        supervisor.send(SupervisorProtocol.STARTING);
        supervisor.send(SupervisorProtocol.COMMAND + " " + command.pid());

        deadlineIn(0, 60 * SECOND);

        assertThat(command.exitCode()).isEqualTo(7);
        assertThat(command.out()).contains("bye");
        assertThat(nextWord()).isEqualTo(SupervisorProtocol.LAPSED);
        assertThat(nextWord()).isEqualTo(SupervisorProtocol.ENDED);
    }

    @Test
    void oneThatDoesNotIsKilledAGraceLater() throws Exception {
        ChildProcess command = command("trap '' TERM; echo on; while :; do sleep 0.05; done");
        command.line("on");
        supervisor.send(SupervisorProtocol.STARTING);
        supervisor.send(SupervisorProtocol.COMMAND + " " + command.pid());
        long deadline = System.nanoTime() + SECOND / 5;

        supervisor.send(SupervisorProtocol.DEADLINE + " " + deadline + " " + SECOND / 5);

        assertThat(command.exitCode()).isEqualTo(137);
        assertThat(System.nanoTime()).isGreaterThanOrEqualTo(deadline + SECOND / 5);
        assertThat(nextWord()).isEqualTo(SupervisorProtocol.LAPSED);
        assertThat(nextWord()).isEqualTo(SupervisorProtocol.ENDED);
    }

    @Test
    void aCommandThatStartsAfterTheDeadlineIsEndedToo() throws Exception {
        deadlineIn(0, 0);
        supervisor.send(SupervisorProtocol.STARTING);
        ChildProcess command = command("echo on; exec sleep 300");

        assertThat(command.exitCode()).isEqualTo(137);
        supervisor.send(SupervisorProtocol.COMMAND + " " + command.pid());
        assertThat(nextWord()).isEqualTo(SupervisorProtocol.ENDED);
    }

    @Test
    void aStoppedCommandIsKilledWhereItStands() throws Exception {
        ChildProcess command = command("echo on; while :; do sleep 0.05; done");
        command.line("on");
        command.signal("STOP");
        supervisor.send(SupervisorProtocol.STARTING);
        supervisor.send(SupervisorProtocol.COMMAND + " " + command.pid());

        deadlineIn(0, SECOND / 10);

        assertThat(command.exitCode()).isEqualTo(137);
    }

    @Test
    void afterEndTheCommandIsNoneOfItsBusiness() throws Exception {
        ChildProcess command = command("echo on; exec sleep 300");
        command.line("on");
        deadlineIn(SECOND / 10, 0);
        supervisor.send(SupervisorProtocol.STARTING);
        supervisor.send(SupervisorProtocol.END);

        awaitEnd(supervisor.pid());
        assertThat(command.isAlive()).isTrue();
    }

    @Test
    void theSignalsOfATerminalDoNotReachIt() throws Exception {
        for (String name : List.of("INT", "TERM", "HUP", "QUIT", "TSTP", "TTOU", "TTIN")) {
            Signals.send(name, supervisor.pid());
        }
        ChildProcess command = command("echo on; exec sleep 300");
        command.line("on");
        supervisor.send(SupervisorProtocol.STARTING);
        supervisor.send(SupervisorProtocol.COMMAND + " " + command.pid());
        supervisor.send(SupervisorProtocol.KILL);

        assertThat(command.exitCode()).isEqualTo(137);
    }

    @Test
    void anotherTakesOverWhenItIsKilled() throws Exception {
        try (Supervision supervision = Supervision.begin()) {
            supervision.awaitReady(60 * SECOND);
            supervision.leaseUntil(System.nanoTime() + 3600 * SECOND, 0);
            ChildProcess command = command(supervision.mark(), "echo on; exec sleep 300");
            supervision.starting();
            supervision.started(command.pid());
            command.line("on");
            long first = supervision.supervisorPid();

            Signals.send("KILL", first);

            Awaitility.await()
                    .atMost(Patience.seconds(60), TimeUnit.SECONDS)
                    .until(() -> supervision.supervisorPid() != first);
            assertThat(command.isAlive()).isTrue();
            supervision.kill();
            assertThat(command.exitCode()).isEqualTo(137);
        }
    }

    private ChildProcess command(String script) {
        return command(mark, script);
    }

    private ChildProcess command(String mark, String script) {
        ChildProcess child = ChildProcess.start(Map.of(mark, "1"), "/bin/sh", "-c", script);
        children.add(child);
        return child;
    }

    private void deadlineIn(long nanos, long grace) throws IOException {
        supervisor.send(SupervisorProtocol.DEADLINE + " " + (System.nanoTime() + nanos) + " " + grace);
    }

    private String nextWord() {
        String[] words = supervisor.receive();
        return words == null ? "(gone)" : words[0];
    }

    private void awaitEnd(long pid) {
        Awaitility.await().atMost(Patience.seconds(60), TimeUnit.SECONDS).until(() -> table.find(pid) == null);
    }
}
