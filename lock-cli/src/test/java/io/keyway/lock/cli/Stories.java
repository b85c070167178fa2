// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.tck.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What happens to commands at a terminal, with real processes. However it ends, two commands under one lock never run
 * at the same time.
 */
@Execution(ExecutionMode.CONCURRENT) // each story has a stage of its own, and mostly waits
abstract class Stories {
    /** Longer than any story: what goes on earlier does so because a death was proved. */
    static final String LONG = "ttl=10m&maxTtl=10m";

    static final String SHORT = "ttl=3s&maxTtl=3s";

    @TempDir
    Path directory;

    Stage stage;

    final void play(String options) throws IOException {
        stage = new Stage(directory, options);
    }

    @AfterEach
    void clearTheStage() throws IOException {
        stage.close();
    }

    /** Runs that script, whose beat is A, under the lock n, and waits until it runs. */
    final ChildProcess running(String script) throws Exception {
        ChildProcess first = stage.run("n", script);
        stage.awaitBeat("A");
        return first;
    }

    /** Wants the lock n for ten beats of B, and waits until it says that it waits. */
    final ChildProcess waiting() throws Exception {
        ChildProcess second = stage.run("n", stage.times(10, "B"));
        second.errLine("waiting for n");
        return second;
    }

    final Path script(String text) throws IOException {
        return Files.writeString(Files.createTempFile(stage.directory, "story", ".sh"), text + "\n");
    }
}
