// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The stories with the locks of this machine, where the operating system proves a death. */
@Tag("soak") // more than half a minute
class LocalTerminalStoriesTest extends TerminalStories {
    private Path place;

    @Override
    String url(Path where) {
        place = where;
        return "lock:native:local://" + where + "?ttl=3s&maxTtl=3s";
    }

    @AfterEach
    void endTheHost() throws IOException {
        if (Files.exists(place.resolve("host.info"))) {
            ProcessHandle.of(hostPid()).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    @Test
    void theHostIsKilled() throws Exception {
        Child first = stage.run("n", stage.untilGo("A"));
        stage.awaitBeat("A");
        long host = hostPid();

        Child.signal("KILL", host);

        Child second = stage.run("n", stage.times(3, "B"));
        second.errLine("waiting for n");
        stage.awaitBeat("A");
        stage.go();
        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        assertThat(hostPid()).isNotEqualTo(host);
        stage.assertRanOneAfterTheOther("A", "B");
    }

    private long hostPid() throws IOException {
        return Files.readAllLines(place.resolve("host.info")).stream()
                .filter(line -> line.startsWith("pid="))
                .map(line -> Long.parseLong(line.substring(4)))
                .findFirst()
                .orElseThrow();
    }
}
