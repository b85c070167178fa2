// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assertions;

/**
 * Programs that tests write and then run. A process of its own writes each: a file that this JVM had open for writing
 * is open in every process that another test starts at that moment, too, until that process has become its program,
 * and the system runs no file that anybody has open for writing ("Text file busy").
 */
final class Executables {
    private Executables() {}

    /** Writes a shell script that its owner can run. */
    static Path script(Path path, String text) throws IOException {
        return write(path, ("#!/bin/sh\n" + text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Copies a script so that its owner can run it. */
    static Path copy(Path from, Path to) throws IOException {
        return write(to, Files.readAllBytes(from));
    }

    private static Path write(Path path, byte[] content) throws IOException {
        Files.createDirectories(path.getParent());
        Process writer = new ProcessBuilder("sh", "-c", "cat >\"$0\" && chmod 700 \"$0\"", path.toString())
                .redirectErrorStream(true)
                .start();
        try (OutputStream in = writer.getOutputStream()) {
            in.write(content);
        }
        String said = new String(writer.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            assertThat(writer.waitFor()).as("writing %s: %s", path, said).isZero();
        } catch (InterruptedException e) {
            Assertions.fail(e);
        }
        return path;
    }
}
