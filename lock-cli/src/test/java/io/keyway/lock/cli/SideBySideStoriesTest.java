// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What people do with commands that run beside each other, without a terminal. */
class SideBySideStoriesTest extends Stories {
    @Test
    void theSecondWaitsForTheFirst() throws Exception {
        play(LONG);
        ChildProcess first = running(stage.untilGo("A"));
        ChildProcess second = stage.run("n", stage.times(10, "B"));

        assertThat(second.errLine("waiting for n")).contains("held by").contains("(sh)");
        stage.go();
        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void aPipeThatCloses() throws Exception {
        play(LONG);
        Path script = script("while :; do echo line; " + stage.beat("A") + "; done");
        ChildProcess first = stage.start(directory, "sh", "-c", "keyway run n -- sh " + script + " | head -n 30");
        stage.awaitBeat("A");
        ChildProcess second = stage.run("n", stage.times(10, "B"));

        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        assertThat(first.err()).doesNotContain("unexpectedly", "was lost");
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void aPipeBehindIt() throws Exception {
        play(LONG);
        ChildProcess all = stage.start(
                directory, "sh", "-c", "keyway run n -- seq 1 20000 | tail -n 1; keyway run n -- yes | head -n 1");

        assertThat(all.exitCode()).isZero();
        assertThat(all.out()).isEqualTo("20000\ny");
        assertThat(all.err()).doesNotContain("unexpectedly", "was lost");
    }

    @Test
    @Tag("soak")
    void aRunInsideOfARun() throws Exception {
        play(LONG);
        Path inner = script(stage.stubborn("A"));
        ChildProcess first = stage.run("outer", "keyway run inner -- sh " + inner);
        stage.awaitBeat("A");
        ChildProcess second = stage.run("inner", stage.times(10, "B"));
        second.errLine("waiting for inner");

        first.signal("KILL");

        assertThat(second.exitCode()).isZero();
        ChildProcess third = stage.run("outer", stage.times(10, "C"));
        assertThat(third.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B", "C");
    }

    @Test
    @Tag("soak")
    void aCommandThatLeavesTheSession() throws Exception {
        play(LONG);
        Path daemon = script(stage.stubborn("A"));
        ChildProcess first = stage.run("n", "setsid sh " + daemon + " & sleep 300");
        stage.awaitBeat("A");
        ChildProcess second = waiting();

        first.signal("KILL");

        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void anotherDirectory() throws Exception {
        play(LONG);
        Path here = Files.createDirectory(directory.resolve("here"));
        Path there = Files.createDirectory(directory.resolve("and there"));
        ChildProcess first = stage.start(here, "keyway", "run", "n", "--", "sh", "-c", "pwd; " + stage.untilGo("A"));
        stage.awaitBeat("A");
        ChildProcess second =
                stage.start(there, "keyway", "run", "n", "--", "sh", "-c", "pwd; " + stage.times(10, "B"));
        second.errLine("waiting for n");

        stage.go();

        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        assertThat(first.out()).endsWith("/here");
        assertThat(second.out()).endsWith("/and there");
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void theOperatorBreaksTheLock() throws Exception {
        play(LONG);
        ChildProcess first = running(stage.stubborn("A"));
        ChildProcess second = waiting();

        ChildProcess operator = stage.start(directory, "keyway", "break", "n", "--reason", "it hangs");

        assertThat(operator.exitCode()).as(operator.err()).isZero();
        assertThat(operator.out()).contains("held by").endsWith("Broken.");
        assertThat(first.exitCode()).isEqualTo(123);
        assertThat(first.err()).contains("the lock n was lost (broken: it hangs)");
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void whatIsSharedRunsTogether() throws Exception {
        play(LONG);
        String url = "--url=lock:table://" + directory.resolve("files") + "?ttl=60s";
        ChildProcess first =
                stage.start(directory, "keyway", "run", url, "--shared", "n", "--", "sh", "-c", stage.untilGo("A"));
        stage.awaitBeat("A");

        ChildProcess second = stage.start(directory, "keyway", "run", url, "--shared", "n", "--", "sh", "-c", "echo B");
        assertThat(second.exitCode()).isZero();
        assertThat(second.out()).isEqualTo("B");
        ChildProcess alone = stage.start(directory, "keyway", "run", url, "--wait", "0s", "n", "--", "echo", "C");
        assertThat(alone.exitCode()).isEqualTo(124);
        assertThat(alone.err()).isEqualTo("keyway: lock n was not acquired at once.");
        ChildProcess permit = stage.start(
                directory,
                "keyway",
                "run",
                url,
                "--permits",
                "2/3",
                "n",
                "--",
                "sh",
                "-c",
                "keyway run " + url + " --wait 0s --permits 2/3 n -- true; echo $?;" + " keyway run " + url
                        + " --wait 0s --permits 1/3 n -- true; echo $?");
        assertThat(permit.exitCode()).isZero();
        assertThat(permit.out()).isEqualTo("124\n0");

        stage.go();
        assertThat(first.exitCode()).isZero();
    }

    @Test
    @Tag("soak")
    void readersAndPermitsOfThisMachineNeedNoServer() throws Exception {
        play(LONG);
        ChildProcess reader =
                stage.start(directory, "keyway", "run", "--shared", "n", "--", "sh", "-c", "echo R; exec sleep 600");
        reader.line("R");
        ChildProcess beside = stage.start(directory, "keyway", "run", "--shared", "n", "--", "echo", "B");
        assertThat(beside.exitCode()).as(beside.err()).isZero();
        ChildProcess writer = stage.start(directory, "keyway", "run", "--wait", "0s", "n", "--", "true");
        assertThat(writer.exitCode()).isEqualTo(124);
        ChildProcess holder = stage.start(
                directory, "keyway", "run", "--permits=3/3x2", "n", "--", "sh", "-c", "echo P; exec sleep 600");
        holder.line("P");
        ChildProcess shown = stage.start(directory, "keyway", "show", "n");
        assertThat(shown.exitCode()).as(shown.err()).isZero();
        assertThat(shown.out()).contains(", shared").contains("permits out [3]").contains("3 permits");
        ChildProcess refused =
                stage.start(directory, "keyway", "run", "--permits=1/3", "--wait", "0s", "n", "--", "true");
        assertThat(refused.exitCode()).as("three of three are out").isEqualTo(124);
        ChildProcess wider =
                stage.start(directory, "keyway", "run", "--permits=3/3x2", "n", "--", "keyway", "show", "n");
        assertThat(wider.exitCode()).as(wider.err()).isZero();
        assertThat(wider.out()).contains("permits out [3, 3]");
        holder.signal("KILL");
        ChildProcess next = stage.start(directory, "keyway", "run", "--permits=3/3", "n", "--", "echo", "N");
        assertThat(next.exitCode()).as(next.err()).isZero();
        reader.signal("TERM");
        assertThat(reader.exitCode()).as("its command ended").isNotZero();
    }

    @Test
    @Tag("soak")
    void twoFirstBuildsAtOnce() throws Exception {
        play(LONG);
        Path root = Files.createDirectories(directory.resolve("fresh"));
        Path keyway = Executables.copy(Path.of("").toAbsolutePath().resolveSibling("keyway"), root.resolve("keyway"));
        Files.createFile(root.resolve("pom.xml"));
        // In place of Maven: the jars of this build, when two want them.
        Path maven = stage.tool("mvn", """
                echo build >>'%1$s'
                until [ -e '%2$s' ]; do sleep 0.02; done
                mkdir -p lock-cli/target/lib
                cp %3$s lock-cli/target/lib
                echo >lock-cli/target/lock-cli-of-this-tree.jar
                """.formatted(
                        root.resolve("builds"),
                        root.resolve("both"),
                        String.join(" ", Installation.get().jars())));
        assertThat(maven).isExecutable();
        ChildProcess first =
                stage.start(directory, "sh", keyway.toString(), "run", "n", "--", "sh", "-c", stage.times(10, "A"));
        first.errLine("keyway: building");
        ChildProcess second =
                stage.start(directory, "sh", keyway.toString(), "run", "n", "--", "sh", "-c", stage.times(10, "B"));
        second.errLine("waiting for it");

        Files.createFile(root.resolve("both"));

        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        assertThat(root.resolve("builds")).hasContent("build");
        stage.assertRanOneAfterTheOtherInAnyOrder("A", "B");
    }
}
