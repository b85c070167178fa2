// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import io.keyway.lock.tck.CheckResult;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The histories of checks that failed or have no verdict as files: {@code histories/<check>.txt}, and {@code .svg} with
 * a picture.
 */
final class Evidence {
    private Evidence() {}

    /** Returns where the text of that check is, below the directory of the report. */
    static Path text(CheckResult check) {
        return Path.of("histories", name(check) + ".txt");
    }

    static Path picture(CheckResult check) {
        return Path.of("histories", name(check) + ".svg");
    }

    private static String name(CheckResult check) {
        return check.id().replaceAll("[^A-Za-z0-9-]+", "-");
    }

    /** Whether there is anything to write. */
    static boolean exists(CheckResult check) {
        return check.evidence().isPresent() || check.picture().isPresent();
    }

    /** Removes what an earlier run has left. */
    static void clear(Path directory) throws IOException {
        Path histories = directory.resolve("histories");
        if (!Files.isDirectory(histories)) {
            return;
        }
        try (DirectoryStream<Path> old = Files.newDirectoryStream(histories, "LK-*.{txt,svg}")) {
            for (Path file : old) {
                Files.delete(file);
            }
        }
    }

    static void write(Path directory, CheckResult check) throws IOException {
        Files.createDirectories(directory.resolve("histories"));
        if (check.evidence().isPresent()) {
            Files.writeString(
                    directory.resolve(text(check)),
                    check.id() + "\n" + check.message() + "\nlook first: " + check.hint() + "\n\n"
                            + check.evidence().get() + "\n");
        }
        if (check.picture().isPresent()) {
            Files.writeString(directory.resolve(picture(check)), check.picture().get());
        }
    }
}
