// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildProcess;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Jobs of this machine whose lock is kept at the least for some time, whatever becomes of them and of the host. */
class KeptJobsTest {
    @TempDir
    private Path directory;

    private Stage stage;

    @BeforeEach
    void play() throws Exception {
        stage = new Stage(directory, "maxTtl=1h");
    }

    @AfterEach
    void clear() throws Exception {
        stage.close();
    }

    private ChildProcess keyway(String... words) {
        String[] all = new String[words.length + 1];
        all[0] = "keyway";
        System.arraycopy(words, 0, all, 1, words.length);
        return stage.start(stage.directory, all);
    }

    private int tried(String name) throws Exception {
        return keyway("run", "--wait", "0s", name, "--", "true").exitCode();
    }

    @Test
    @Tag("soak")
    void aJobThatEndsAtOnceIsKeptAndCanBeBroken() throws Exception {
        ChildProcess done = keyway("run", "--at-least", "50m", "done", "--", "true");
        assertThat(done.exitCode()).as(done.err()).isZero();
        assertThat(tried("done")).isEqualTo(124);
        ChildProcess shown = keyway("show", "done");
        assertThat(shown.exitCode()).as(shown.err()).isZero();
        assertThat(shown.out()).contains("kept after").contains("free in 49m");

        long host = stage.hostPid();
        ProcessHandle.of(host).orElseThrow().destroy();
        ProcessHandle.of(host).ifPresent(process -> process.onExit().join());
        ChildProcess again = keyway("show", "done");
        assertThat(again.exitCode()).as(again.err()).isZero();
        assertThat(again.out()).as("by a host that was not there").contains("kept after");
        assertThat(tried("done")).isEqualTo(124);

        ChildProcess broken = keyway("break", "done", "--reason", "again");
        assertThat(broken.exitCode()).as(broken.err()).isZero();
        assertThat(tried("done")).isZero();
    }

    @Test
    @Tag("soak")
    void aJobThatIsKilledIsKeptAndSoIsOneWhoseHostIsKilled() throws Exception {
        long start = System.nanoTime();
        ChildProcess killed = keyway("run", "--at-least", "6s", "job", "--", "sh", "-c", stage.stubborn("A"));
        stage.awaitBeat("A");
        killed.signal("KILL");
        assertThat(tried("job")).isEqualTo(124);
        ProcessHandle host = ProcessHandle.of(stage.hostPid()).orElseThrow();
        host.destroyForcibly();
        host.onExit().join();

        ChildProcess next = keyway("run", "job", "--", "sh", "-c", stage.times(2, "B"));
        assertThat(next.exitCode()).as(next.err()).isZero();
        assertThat(System.nanoTime() - start).isGreaterThan(6_000_000_000L);
        stage.assertRanOneAfterTheOther("A", "B");
    }
}
