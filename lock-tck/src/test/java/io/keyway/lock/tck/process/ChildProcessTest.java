// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ChildProcessTest {
    private static ChildProcess shell(String script) {
        return ChildProcess.start(Map.of("PARROT", "green"), "/bin/sh", "-c", script);
    }

    @Test
    void outputAndErrorsAreKeptApartAndAnyLineIsFoundAgain() throws Exception {
        try (ChildProcess shell = shell("echo one; echo $PARROT; echo alarm >&2; exit 3")) {
            assertThat(shell.line("gr")).isEqualTo("green");
            assertThat(shell.line(line -> line.endsWith("ne"))).isEqualTo("one");
            assertThat(shell.errLine("lar")).isEqualTo("alarm");
            assertThat(shell.exitCode()).isEqualTo(3);
            assertThat(shell.out()).isEqualTo("one\ngreen");
            assertThat(shell.err()).isEqualTo("alarm");
        }
    }

    @Test
    void whatIsTypedArrivesAndSoDoesTheEndOfIt() throws Exception {
        try (ChildProcess shell = shell("cat; echo over")) {
            shell.type("a\n");
            shell.line("a");
            assertThat(shell.isAlive()).isTrue();
            shell.endInput();
            shell.line("over");
            assertThat(shell.exitCode()).isZero();
        }
    }

    @Test
    void closingKillsDescendantsToo() throws Exception {
        ChildProcess shell = shell("sleep 1000 & echo $!; wait");
        long sleeper = Long.parseLong(shell.line(line -> true));
        assertThat(Signals.parent(sleeper)).isEqualTo(Long.toString(shell.pid()));
        shell.close();
        Signals.until("both have ended", () -> !Signals.lives(sleeper) && !shell.isAlive());
    }

    @Test
    void aSignalArrives() throws Exception {
        try (ChildProcess shell = shell("trap 'echo heard' USR1; echo ready; while :; do sleep 0.01; done")) {
            shell.line("ready");
            shell.signal("USR1");
            assertThat(shell.line("heard")).isEqualTo("heard");
            shell.kill9();
            assertThat(shell.exitCode()).isEqualTo(137);
        }
    }

    @Test
    void aSignalArrivesThoughItsStarterIgnoresIt() throws Exception {
        List<String> words = new ArrayList<>(List.of("/bin/sh", "-c", "trap '' HUP INT QUIT TERM; exec \"$@\"", "sh"));
        words.addAll(ChildJvm.command(Interrupting.class));
        try (ChildProcess deaf = ChildProcess.start(Map.of(), words)) {
            deaf.line("ready");
            deaf.signal("INT");
            deaf.type("go\n");
            assertThat(deaf.exitCode()).as(deaf.err()).isZero();
            assertThat(deaf.out()).endsWith("it ended with 130");
        }
    }

    /** Starts a process, and interrupts it as soon as it reads a line. */
    static final class Interrupting {
        private Interrupting() {}

        public static void main(String[] args) throws Exception {
            try (ChildProcess child = ChildProcess.start(Map.of(), "sh", "-c", "echo on; exec sleep 1000")) {
                child.line("on");
                System.out.println("ready");
                System.in.read();
                child.signal("INT");
                System.out.println("it ended with " + child.exitCode());
            }
        }
    }

    @Test
    void aCommandThatIsNotThereIsAnError() {
        assertThatThrownBy(() -> ChildProcess.start(Map.of(), "/no/such/command"))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("/no/such/command");
    }
}
