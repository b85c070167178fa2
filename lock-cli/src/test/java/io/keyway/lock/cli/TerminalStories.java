// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What people do to commands at a terminal, with real processes. However it ends, two commands under one lock never run
 * at the same time.
 */
abstract class TerminalStories {
    @TempDir
    Path directory;

    Stage stage;

    /** A URL of locks that separate processes share, with a ttl of about 3 s. */
    abstract String url(Path place);

    @BeforeEach
    void setTheStage() throws IOException {
        stage = new Stage(Files.createDirectory(directory.resolve("stage")), url(directory.resolve("locks")));
    }

    @AfterEach
    void clearTheStage() {
        stage.close();
    }

    @Test
    void theSecondWaitsForTheFirst() throws Exception {
        Child first = stage.run("n", stage.untilGo("A"));
        stage.awaitBeat("A");
        Child second = stage.run("n", stage.times(3, "B"));

        assertThat(second.errLine("waiting for n")).contains("held by").contains("(sh)");
        stage.go();
        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void keywayIsKilled() throws Exception {
        Child first = stage.run("n", stage.stubborn("A"));
        stage.awaitBeat("A");
        Child second = stage.run("n", stage.times(3, "B"));
        second.errLine("waiting for n");

        first.signal("KILL");

        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void theSupervisorIsKilled() throws Exception {
        Child first = stage.run("n", stage.stubborn("A"));
        stage.awaitBeat("A");
        long supervisor = Stage.supervisorOf(first);

        Child.signal("KILL", supervisor);

        Awaitility.await().until(() -> Stage.supervisorOf(first) != supervisor);
        stage.awaitBeat("A");
        Child second = stage.run("n", stage.times(3, "B"));
        second.errLine("waiting for n");
        first.signal("KILL");
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void theCommandIsKilled() throws Exception {
        Child first = stage.run("n", stage.forever("A"));
        stage.awaitBeat("A");
        Child second = stage.run("n", stage.times(3, "B"));

        Child.signal("KILL", Stage.commandOf(first));

        assertThat(first.exitCode()).isEqualTo(137);
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void keywayIsStopped() throws Exception {
        Child first = stage.run("n", stage.stubborn("A"));
        stage.awaitBeat("A");
        first.signal("STOP");
        Child second = stage.run("n", stage.times(3, "B"));

        assertThat(second.exitCode()).isZero();
        first.signal("CONT");
        assertThat(first.exitCode()).isEqualTo(123);
        assertThat(first.err()).contains("the lock n was lost");
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void controlCWhileWaiting() throws Exception {
        Child first = stage.run("n", stage.forever("A"));
        stage.awaitBeat("A");
        Child terminal = terminal();
        terminal.type("keyway run n -- sh -c \"" + stage.times(3, "B").replace("$", "\\$") + "\"; echo code=$?\n");
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
        Child terminal = terminal();
        Path script = script("trap 'exit 9' INT; " + stage.forever("A"));
        terminal.type("keyway run n -- sh " + script + "; echo code=$?\n");
        stage.awaitBeat("A");
        Child second = stage.run("n", stage.times(3, "B"));
        second.errLine("waiting for n");

        terminal.type("\003");

        terminal.line(line -> line.contains("code=9"));
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void controlZ() throws Exception {
        Child terminal = terminal();
        Path script = script(stage.stubborn("A"));
        terminal.type("keyway run n -- sh " + script + "; echo code=$?\n");
        stage.awaitBeat("A");
        Child second = stage.run("n", stage.times(3, "B"));
        second.errLine("waiting for n");

        terminal.type("\032");

        assertThat(second.exitCode()).isZero();
        terminal.type("fg; echo then=$?\n");
        terminal.line(line -> line.contains("the lock n was lost"));
        terminal.line(line -> line.contains("then=123"));
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void theCommandReadsTheTerminal() throws Exception {
        Child terminal = terminal();
        terminal.type("keyway run n -- sh -c 'echo \"ready:\"; read word; echo \"got:$word\"; tty'; echo code=$?\n");
        terminal.line(line -> line.endsWith("ready:"));

        terminal.type("hello\n");

        terminal.line(line -> line.endsWith("got:hello"));
        terminal.line(line -> line.contains("/dev/"));
        terminal.line(line -> line.contains("code=0"));
    }

    @Test
    void aPipeBehindIt() throws Exception {
        Child all = stage.start(
                directory, "sh", "-c", "keyway run n -- seq 1 20000 | tail -n 1; keyway run n -- yes | head -n 1");

        assertThat(all.exitCode()).isZero();
        assertThat(all.out()).isEqualTo("20000\ny");
        assertThat(all.err()).doesNotContain("unexpectedly", "was lost");
    }

    @Test
    void aRunInsideOfARun() throws Exception {
        Path inner = script(stage.stubborn("A"));
        Child first = stage.run("outer", "keyway run inner -- sh " + inner);
        stage.awaitBeat("A");
        Child second = stage.run("inner", stage.times(3, "B"));
        second.errLine("waiting for inner");

        first.signal("KILL");

        assertThat(second.exitCode()).isZero();
        Child third = stage.run("outer", stage.times(3, "C"));
        assertThat(third.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B", "C");
    }

    @Test
    void aCommandThatLeavesTheSession() throws Exception {
        Path daemon = script(stage.stubborn("A"));
        Child first = stage.run("n", "setsid sh " + daemon + " & sleep 300");
        stage.awaitBeat("A");
        Child second = stage.run("n", stage.times(3, "B"));
        second.errLine("waiting for n");

        first.signal("KILL");

        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void whatTheCommandLeftBehindKeepsTheLock() throws Exception {
        Path daemon = script(stage.untilGo("A"));
        Child first = stage.run("n", "setsid sh " + daemon + " </dev/null >/dev/null 2>&1 & exit 4");
        stage.awaitBeat("A");
        Child second = stage.run("n", stage.times(3, "B"));
        first.errLine("sh has ended and left 1 process (");
        second.errLine("waiting for n");

        stage.go();

        assertThat(first.exitCode()).isEqualTo(4);
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void anotherDirectory() throws Exception {
        Path here = Files.createDirectory(directory.resolve("here"));
        Path there = Files.createDirectory(directory.resolve("and there"));
        Child first = stage.start(here, "keyway", "run", "n", "--", "sh", "-c", "pwd; " + stage.untilGo("A"));
        stage.awaitBeat("A");
        Child second = stage.start(there, "keyway", "run", "n", "--", "sh", "-c", "pwd; " + stage.times(3, "B"));
        second.errLine("waiting for n");

        stage.go();

        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        assertThat(first.out()).endsWith("/here");
        assertThat(second.out()).endsWith("/and there");
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void theOperatorBreaksTheLock() throws Exception {
        Child first = stage.run("n", stage.stubborn("A"));
        stage.awaitBeat("A");

        Child operator = stage.start(directory, "keyway", "break", "n", "--reason", "it hangs");

        assertThat(operator.exitCode()).isZero();
        assertThat(first.exitCode()).isEqualTo(123);
        assertThat(first.err()).contains("the lock n was lost (");
    }

    private Child terminal() {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "script(1) makes the terminal");
        return stage.terminal();
    }

    private Path script(String text) throws IOException {
        return Files.writeString(Files.createTempFile(stage.directory, "story", ".sh"), text + "\n");
    }
}
