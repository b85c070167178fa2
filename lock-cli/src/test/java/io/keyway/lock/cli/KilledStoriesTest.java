// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Signals;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of the lock when one of the processes around a command is killed or stopped. */
class KilledStoriesTest extends Stories {
    @Test
    void keywayIsKilled() throws Exception {
        play(LONG);
        ChildProcess first = running(stage.stubborn("A"));
        ChildProcess second = waiting();

        first.signal("KILL");

        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    void theSupervisorIsKilled() throws Exception {
        play(LONG);
        ChildProcess first = running(stage.stubborn("A"));
        long supervisor = Stage.supervisorOf(first);

        Signals.send("KILL", supervisor);

        Awaitility.await().until(() -> Stage.supervisorOf(first) != supervisor);
        stage.awaitBeat("A");
        ChildProcess second = waiting();
        first.signal("KILL");
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void theSupervisorEndsTheCommandLongAfterKeywayWasKilled() throws Exception {
        play(LONG);
        ChildProcess first = running(stage.stubborn("A"));
        ChildProcess second = waiting();
        long supervisor = Stage.supervisorOf(first);
        Signals.stop(supervisor);

        first.signal("KILL");

        long then = stage.count("A");
        Awaitility.await().until(() -> stage.count("A") > then + 40);
        Signals.send("CONT", supervisor);
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void theCommandIsKilled() throws Exception {
        play(LONG);
        ChildProcess first = running(stage.forever("A"));
        ChildProcess second = stage.run("n", stage.times(10, "B"));

        Signals.send("KILL", Stage.commandOf(first));

        assertThat(first.exitCode()).isEqualTo(137);
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void keywayIsStopped() throws Exception {
        play(SHORT);
        ChildProcess first = running(stage.stubborn("A"));
        first.signal("STOP");
        ChildProcess second = stage.run("n", stage.times(10, "B"));

        assertThat(second.exitCode()).isZero();
        first.signal("CONT");
        assertThat(first.exitCode()).isEqualTo(123);
        assertThat(first.err()).contains("the lock n was lost (keyway itself was stopped for ");
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void whatTheCommandLeftBehindKeepsTheLock() throws Exception {
        play(LONG);
        Path daemon = script(stage.untilGo("A"));
        ChildProcess first = stage.run("n", "setsid sh " + daemon + " </dev/null >/dev/null 2>&1 & exit 4");
        stage.awaitBeat("A");
        ChildProcess second = stage.run("n", stage.times(10, "B"));
        // With its pause there are two.
        first.errLine("sh has ended and left ");
        second.errLine("waiting for n");

        stage.go();

        assertThat(first.exitCode()).isEqualTo(4);
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void theHostIsKilled() throws Exception {
        play(LONG);
        ChildProcess first = running(stage.untilGo("A"));
        long host = stage.hostPid();

        Signals.send("KILL", host);

        ChildProcess second = waiting();
        stage.awaitBeat("A");
        stage.go();
        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        assertThat(stage.hostPid()).isNotEqualTo(host);
        stage.assertRanOneAfterTheOther("A", "B");
    }
}
