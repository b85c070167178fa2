// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.Patience;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadmeExampleTest {
    @TempDir
    Path directory;

    @Test
    void theProgramRuns() throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                ReadmeExample.class.getName());
        builder.environment().put("KEYWAY_DIR", directory.resolve("locks").toString());
        builder.redirectError(ProcessBuilder.Redirect.DISCARD);
        Process process = builder.start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(Patience.seconds(60), TimeUnit.SECONDS)).isTrue();
            assertThat(said).matches("(?s)working under token \\d+\\Rran\\Rtrue\\R");
        } finally {
            process.destroyForcibly();
        }
    }
}
