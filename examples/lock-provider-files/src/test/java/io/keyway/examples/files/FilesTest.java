// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.Locks;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.testing.WorkerPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the compatibility kit cannot know of this provider: its files. */
class FilesTest {

    private static final LockKey KEY = LockKey.lock("x");

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
            String[] row = Files.readString(locks.resolve("1")).split("\t", 4);
            row[2] = Long.toString(Long.parseLong(row[2]) + Duration.ofHours(1).toNanos());
            Files.writeString(locks.resolve("2"), String.join("\t", row));
            try (Lease lease = client.lock("x").tryAcquire().orElseThrow()) {
                assertThat(lease.token()).isEqualTo(3);
            }
        }
    }

    @Test
    void whatAKilledProcessLeavesIsNotRead() throws Exception {
        Path locks = Files.createDirectories(temporary.resolve("locks"));
        Files.writeString(locks.resolve("fresh-of-another"), "x:LOCK\t17");
        assertThat(nextToken()).isEqualTo(1);
        Files.writeString(locks.resolve("30"), "");
        assertThat(nextToken()).as("the latest version counts").isEqualTo(31);
    }

    @Test
    void aWriterThatStoodStillForLongDoesNotKnowWhetherItWrote() throws Exception {
        Path locks = temporary.resolve("locks");
        FilesRows rows = new FilesRows(locks) {
            @Override
            boolean link(long version, Map<String, Line> table) throws IOException {
                for (int other = 1; other <= 30; other++) {
                    writeAndDelete(locks, other);
                }
                return super.link(version, table);
            }
        };
        assertThatThrownBy(() -> rows.write(grant(), Deadline.after(Duration.ofSeconds(9))))
                .hasMessageContaining("stood still");
        assertThat(new FilesRows(locks)
                        .read(KEY, Deadline.after(Duration.ofSeconds(9)))
                        .row())
                .isEqualTo(Row.FREE);
        assertThat(nextToken()).as("what others wrote stands").isEqualTo(31);
    }

    @Test
    void aVerbWaitsNoLongerForAnotherThreadThanItsLimit() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        FilesRows busy = new FilesRows(temporary.resolve("busy")) {
            @Override
            boolean link(long version, Map<String, Line> table) throws IOException {
                inside.countDown();
                return awaited(end) && super.link(version, table);
            }
        };
        CompletableFuture<Boolean> other = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                other.complete(busy.write(grant(), Deadline.after(Duration.ofMinutes(1)))
                        .done());
            } catch (Exception e) {
                other.completeExceptionally(e);
            }
        });
        thread.start();
        inside.await();
        FilesRows rows = new FilesRows(temporary.resolve("locks"));
        assertThatThrownBy(() -> rows.write(grant(), Deadline.after(Duration.ofMillis(50))))
                .isInstanceOf(NotExecutedException.class)
                .hasMessageContaining("other threads");
        end.countDown();
        assertThat(other.get(Patience.seconds(20), TimeUnit.SECONDS)).isTrue();
    }

    private static RowStore.Write grant() {
        return new RowStore.Write(KEY, RowStore.IF_FREE, Row.FREE, List.of(), List.of());
    }

    private static boolean awaited(CountDownLatch latch) {
        try {
            return latch.await(Patience.seconds(20), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** As another process does it. */
    private static void writeAndDelete(Path locks, int version) {
        try {
            Files.writeString(locks.resolve(Integer.toString(version)), "");
            Files.deleteIfExists(locks.resolve(Integer.toString(version - 20)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Tag("soak")
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
                        .filter(line -> !line.isBlank() && !line.startsWith("import "))
                        .count();
            }
            assertThat(lines).as("imports aside").isLessThan(180);
        }
    }

    private String url(String name) {
        return "lock:files://" + temporary.resolve(name);
    }
}
