// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.history.HistoryCrew;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the compatibility kit cannot know of this provider: its files. */
class FilesTest {

    @TempDir
    Path temporary;

    @Test
    void processesThatAreKilledNeverLeaveTwoHoldersOrALowerToken() throws Exception {
        try (HistoryCrew crew = new HistoryCrew(temporary, url("locks") + "?ttl=1s", 2, false)) {
            crew.startTwins();
            crew.start();
            crew.start();
            for (int i = 0; i < 4; i++) {
                crew.awaitProgress("round " + i);
                crew.kill(crew.workers().get(0));
                crew.start();
            }
            crew.awaitProgress("at the end");
            crew.endAndCheck("files", 20);
        }
    }

    @Test
    void whatWasHeldBeforeTheMachineStartedAnewIsFree() throws Exception {
        Path table = temporary.resolve("locks/table");
        try (LockClient client = Locks.open(url("locks") + "?ttl=1h")) {
            client.lock("x").acquire();
            List<String> lines = Files.readAllLines(table);
            String[] place = lines.get(1).split(" ");
            place[6] = Long.toString(Long.parseLong(place[6]) + Long.parseLong(place[5]));
            Files.write(table, List.of(lines.get(0), String.join(" ", place)));
            try (Lease lease = client.lock("x").tryAcquire().orElseThrow()) {
                assertThat(lease.token()).isEqualTo(2);
            }
        }
    }

    @Test
    void aProcessMayBeKilledInEachStepOfAWrite() throws Exception {
        Path locks = Files.createDirectories(temporary.resolve("locks"));
        Files.writeString(locks.resolve("partial"), "17\nLOCK:x 12");
        assertThat(nextToken()).as("before the first table was whole").isEqualTo(1);
        Files.writeString(locks.resolve("fresh"), "7\n");
        assertThat(nextToken()).as("before the old table was deleted").isEqualTo(2);
        Files.move(locks.resolve("table"), locks.resolve("fresh"));
        assertThat(nextToken()).as("after the old table was deleted").isEqualTo(3);
        assertThat(Files.readAllLines(locks.resolve("table"))).isEqualTo(List.of("3"));
    }

    private long nextToken() throws InterruptedException {
        try (LockClient client = Locks.open(url("locks"));
                Lease lease = client.lock("x").tryAcquire().orElseThrow()) {
            return lease.token();
        }
    }

    @Test
    void itIsSmall() throws Exception {
        try (Stream<Path> files = Files.list(Path.of("src/main/java/io/keyway/examples/files"))) {
            long lines = 0;
            for (Path file : files.toList()) {
                lines += Files.readAllLines(file).stream()
                        .filter(line -> !line.isBlank())
                        .count();
            }
            assertThat(lines).isLessThan(300);
        }
    }

    private String url(String name) {
        return "lock:files://" + temporary.resolve(name);
    }
}
