// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What people do to commands at a terminal. */
class TerminalStoriesTest extends Stories {
    @Test
    @Tag("soak")
    void controlCWhileWaiting() throws Exception {
        play(LONG);
        ChildProcess first = running(stage.forever("A"));
        ChildProcess terminal = terminal();
        terminal.type("keyway run n -- sh -c \"" + stage.times(10, "B").replace("$", "\\$") + "\"; echo code=$?\n");
        terminal.line(line -> line.contains("waiting for n, held by"));

        terminal.type("\003");

        terminal.line(line -> line.contains("code=130"));
        assertThat(terminal.out()).contains("n is not held and nothing was run");
        stage.awaitBeat("A");
        first.signal("TERM");
        assertThat(first.exitCode()).isEqualTo(143);
        stage.assertRanOneAfterTheOther("A");
    }

    @Test
    void controlCWhileRunning() throws Exception {
        play(LONG);
        ChildProcess terminal = terminal();
        Path script = script("trap 'exit 9' INT; " + stage.forever("A"));
        terminal.type("keyway run n -- sh " + script + "; echo code=$?\n");
        stage.awaitBeat("A");
        ChildProcess second = waiting();

        terminal.type("\003");

        terminal.line(line -> line.contains("code=9"));
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void controlZ() throws Exception {
        play(SHORT);
        ChildProcess terminal = terminal();
        Path script = script(stage.stubborn("A"));
        terminal.type("keyway run n -- sh " + script + "; echo code=$?\n");
        stage.awaitBeat("A");
        ChildProcess second = waiting();

        terminal.type("\032");

        assertThat(second.exitCode()).isZero();
        terminal.type("fg; echo then=$?\n");
        terminal.line(line -> line.contains("the lock n was lost"));
        terminal.line(line -> line.contains("then=123"));
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void theCommandReadsTheTerminal() throws Exception {
        play(LONG);
        ChildProcess terminal = terminal();
        terminal.type("keyway run n -- sh -c 'echo \"ready:\"; read word; echo \"got:$word\"; tty'; echo code=$?\n");
        terminal.line(line -> line.endsWith("ready:"));

        terminal.type("hello\n");

        terminal.line(line -> line.endsWith("got:hello"));
        terminal.line(line -> line.contains("/dev/"));
        terminal.line(line -> line.contains("code=0"));
    }

    @Test
    @Tag("soak")
    void thePageOfLocks() throws Exception {
        play(LONG);
        ChildProcess first = running(stage.untilGo("A"));
        ChildProcess terminal = terminal();
        terminal.type("stty rows 20 cols 70; before=$(stty -g); export TERM=xterm; keyway show --watch; echo code=$?;"
                + " [ \"$before\" = \"$(stty -g)\" ] && echo restored=yes\n");
        terminal.line(line -> line.contains("holds") && line.contains("command=sh"));
        assertThat(terminal.out()).contains("\033[?1049h", "\033[?25l", "1 held, 0 waiting");

        terminal.type("q");

        terminal.line(line -> line.contains("code=0"));
        terminal.line(line -> line.contains("restored=yes"));
        assertThat(terminal.out()).contains("\033[?25h\033[?1049l");

        terminal.type("keyway show --watch n; echo then=$?; [ \"$before\" = \"$(stty -g)\" ] && echo again=yes\n");
        terminal.line(line -> line.contains("n  lock:native"));
        terminal.type("\003");
        terminal.line(line -> line.contains("then=130"));
        terminal.line(line -> line.contains("again=yes"));

        ChildProcess pipe = stage.start(directory, "sh", "-c", "keyway show --watch | head -n 2");
        assertThat(pipe.exitCode()).isZero();
        assertThat(pipe.out()).startsWith("n\n  held by ").doesNotContain("\033");
        stage.go();
        assertThat(first.exitCode()).isZero();
    }

    private ChildProcess terminal() {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "script(1) makes the terminal");
        return stage.terminal();
    }
}
