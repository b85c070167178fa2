// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.testing.WorkerPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the compatibility kit cannot know of this provider: its files. */
class FilesTest {

    @TempDir
    Path temporary;

    @Test
    @Tag("soak")
    void processesThatAreKilledNeverLeaveTwoHoldersOrALowerToken() throws Exception {
        try (WorkerPool crew = new WorkerPool(temporary, url("locks") + "?ttl=2s", 2, false)) {
            crew.startTwins();
            crew.start();
            crew.start();
            for (int i = 0; i < 3; i++) {
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
        Path locks = temporary.resolve("locks");
        try (LockClient client = Locks.open(url("locks") + "?ttl=1h")) {
            client.lock("x").acquire();
            List<String> lines = Files.readAllLines(locks.resolve("1"));
            String[] place = lines.get(1).split(" ");
            place[6] = Long.toString(Long.parseLong(place[6]) + Long.parseLong(place[5]));
            Files.write(locks.resolve("2"), List.of(lines.get(0), String.join(" ", place)));
            try (Lease lease = client.lock("x").tryAcquire().orElseThrow()) {
                assertThat(lease.token()).isEqualTo(2);
            }
        }
    }

    @Test
    void whatAKilledProcessLeavesIsNotRead() throws Exception {
        Path locks = Files.createDirectories(temporary.resolve("locks"));
        Files.writeString(locks.resolve("fresh-of-another"), "17\nLOCK:x 12");
        assertThat(nextToken()).isEqualTo(1);
        Files.writeString(locks.resolve("30"), "7\n");
        assertThat(nextToken()).as("the latest version counts").isEqualTo(8);
    }

    @Test
    void aWriterThatStoodStillForLongDoesNotKnowWhetherItWrote() throws Exception {
        Path locks = temporary.resolve("locks");
        Table table = new Table(locks);
        assertThatThrownBy(() -> table.change(Duration.ofSeconds(9), now -> {
                    for (int version = 1; version <= 30; version++) {
                        writeAndDelete(locks, version);
                    }
                    return ++table.token;
                }))
                .hasMessageContaining("stood still");
        assertThat(table.<Long>change(Duration.ofSeconds(9), now -> table.token))
                .isEqualTo(30);
    }

    @Test
    void aVerbWaitsNoLongerForAnotherThreadThanItsLimit() throws Exception {
        Table busy = new Table(temporary.resolve("busy"));
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        CompletableFuture<Boolean> other = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                other.complete(busy.change(Duration.ofMinutes(1), now -> {
                    inside.countDown();
                    return awaited(end);
                }));
            } catch (Exception e) {
                other.completeExceptionally(e);
            }
        });
        thread.start();
        inside.await();
        Table table = new Table(temporary.resolve("locks"));
        assertThatThrownBy(() -> table.change(Duration.ofMillis(50), now -> true))
                .isInstanceOf(NotExecutedException.class)
                .hasMessageContaining("other threads");
        end.countDown();
        assertThat(other.get(20, TimeUnit.SECONDS)).isTrue();
    }

    private static boolean awaited(CountDownLatch latch) {
        try {
            return latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** As another process does it. */
    private static void writeAndDelete(Path locks, int version) {
        try {
            Files.writeString(locks.resolve(Integer.toString(version)), version + "\n");
            Files.deleteIfExists(locks.resolve(Integer.toString(version - 20)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aProcessThatStandsStillStopsNobody() throws Exception {
        try (WorkerPool crew = new WorkerPool(temporary, url("locks") + "?ttl=2s", 1, false)) {
            crew.start();
            crew.start();
            ChildJvm still = crew.start();
            for (int i = 0; i < 3; i++) {
                crew.awaitProgress("round " + i);
                crew.stop(still);
                crew.awaitProgress("while one stands still", 2);
                crew.cont(still);
            }
            crew.endAndCheck("files", 20);
        }
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
