// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.testing.Traces;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What histories record is kept as long as it may be needed, and at a failure for good. */
class TracesTest {
    @TempDir
    Path directory;

    private Path trace(String name, long pid, Instant written) throws IOException {
        Path file = Files.writeString(directory.resolve(name + "-" + pid + "-1.trace"), "x\n");
        Files.setLastModifiedTime(file, FileTime.from(written));
        return file;
    }

    private static List<Path> files(Path of) throws IOException {
        try (Stream<Path> files = Files.list(of)) {
            return files.sorted().toList();
        }
    }

    @Test
    void whoEndedBeforeTheHistoryBeforeIsForgotten() throws Exception {
        Process ended = new ProcessBuilder("true").start();
        ended.waitFor();
        Traces traces = new Traces(directory, "TracesTest");
        trace("old", ended.pid(), Instant.now().minusSeconds(60));
        Path alive = trace("alive", ProcessHandle.current().pid(), Instant.now().minusSeconds(60));
        traces.next();
        traces.next();
        assertThat(files(directory)).as("a history may still need it").hasSize(2);
        Path fresh = trace("fresh", ended.pid(), Instant.now().plusSeconds(60));
        traces.next();
        assertThat(files(directory)).containsExactlyInAnyOrder(alive, fresh);
    }

    @Test
    void whatIsKeptIsNamedWithTheCommandThatShowsIt() throws IOException {
        Path file = trace("member", 1, Instant.now());
        String told = new Traces(directory, "TracesTest").keep();

        assertThat(told).contains("keyway trace --files ").endsWith(" --html history.html");
        Path kept = Path.of(told.replaceAll(".*--files (.*) --html.*", "$1"));
        assertThat(kept.resolve(file.getFileName())).hasSameTextualContentAs(file);
        delete(kept);
    }

    static void delete(Path kept) throws IOException {
        try (Stream<Path> files = Files.walk(kept)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
