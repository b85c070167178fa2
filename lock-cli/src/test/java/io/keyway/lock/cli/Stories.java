// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * What happens to commands at a terminal, with real processes. However it ends, two commands under one lock never run
 * at the same time.
 */
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

    final Path script(String text) throws IOException {
        return Files.writeString(Files.createTempFile(stage.directory, "story", ".sh"), text + "\n");
    }
}
