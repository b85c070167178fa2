// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadmeExampleTest {
    private static final Path SOURCE = Path.of("src/test/java/io/keyway/lock/peer/ReadmeExample.java");

    @TempDir
    Path directory;

    @Test
    void theReadmeShowsTheProgramThatRuns() throws IOException {
        String readme = Files.readString(Path.of("../README.md"));
        List<String> source = Files.readAllLines(SOURCE);
        int begin = source.indexOf("        // README begins");
        int end = source.indexOf("        // README ends");
        String program = String.join(
                "\n",
                source.subList(begin + 1, end).stream()
                        .map(line -> line.isEmpty() ? line : line.substring(8))
                        .toList());
        assertThat(readme).contains("```java\n" + program + "\n```");
    }

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
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(said).matches("(?s)working under token \\d+\\Rran\\Rtrue\\R");
        } finally {
            process.destroyForcibly();
        }
    }
}
