// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
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
    void aCommandThatIsNotThereIsAnError() {
        assertThatThrownBy(() -> ChildProcess.start(Map.of(), "/no/such/command"))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("/no/such/command");
    }
}
