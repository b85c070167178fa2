// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Another wall clock for a process, by a library that is loaded before those of the system: no clock of the machine is
 * set, and the monotonic clock of the process stays as it is.
 */
public final class WallClock {
    private static final List<String> PLACES = List.of("/usr/lib", "/usr/lib64", "/usr/local/lib");
    private static final String LIBRARY = "faketime/libfaketime.so.1";

    private WallClock() {}

    /** Whether this machine has the library (Debian: {@code apt-get install faketime}). */
    public static boolean canBeMoved() {
        return library().isPresent();
    }

    private static Optional<Path> library() {
        for (String place : PLACES) {
            Path directory = Path.of(place);
            Path library = directory.resolve(LIBRARY);
            if (Files.isReadable(library)) {
                return Optional.of(library);
            }
            // Debian has a directory for each architecture.
            try (DirectoryStream<Path> architectures = Files.newDirectoryStream(directory, "*-linux-*")) {
                for (Path architecture : architectures) {
                    if (Files.isReadable(architecture.resolve(LIBRARY))) {
                        return Optional.of(architecture.resolve(LIBRARY));
                    }
                }
            } catch (IOException e) {
                // There is no such place.
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the words before the command of a process whose wall clock is to be so far ahead, or behind. The process
     * that is started is the command's own, so that a signal reaches it. Without the last variable each wait of a JVM
     * that has a limit ends at once, since it is by the monotonic clock.
     */
    public static List<String> ahead(Duration by) {
        return List.of(
                "env",
                "LD_PRELOAD=" + library().orElseThrow(),
                "FAKETIME=" + (by.isNegative() ? "" : "+") + by.toSeconds() + "s",
                "FAKETIME_DONT_FAKE_MONOTONIC=1",
                "FAKETIME_FORCE_MONOTONIC_FIX=0");
    }
}
