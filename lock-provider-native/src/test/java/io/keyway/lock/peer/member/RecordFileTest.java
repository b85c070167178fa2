// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.counter.CounterAlgorithm;
import io.keyway.lock.peer.counter.CounterMessage.Tally;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.os.FakeFacts;
import io.keyway.lock.peer.wire.RecordCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is forced is there at the next start, whole, or the start says why not. */
class RecordFileTest {
    private static final RecordCodec CODEC = new CounterAlgorithm().records().orElseThrow();

    @TempDir
    Path directory;

    private final FakeFacts facts = new FakeFacts();

    private RecordFile open(boolean hasRun) throws IOException {
        return RecordFile.open(directory.resolve("records"), CODEC, facts, hasRun);
    }

    private static Tally tally(String name, long... increments) {
        return new Tally(
                CounterAlgorithm.key(name), LongStream.of(increments).boxed().toList());
    }

    private byte[] forced(DurableRecord... records) throws IOException {
        try (RecordFile file = open(false)) {
            for (DurableRecord record : records) {
                file.force(List.of(record));
            }
        }
        return Files.readAllBytes(directory.resolve("records"));
    }

    private List<DurableRecord> found(byte[] bytes) throws IOException {
        Files.write(directory.resolve("records"), bytes);
        try (RecordFile file = open(true)) {
            return file.records();
        }
    }

    @Test
    void theLastRecordOfEachMachineIsThereAtTheNextStart() throws IOException {
        byte[] bytes = forced(tally("a", 1), tally("b", 7), tally("a", 1, 2));
        assertThat(found(bytes)).containsExactlyInAnyOrder(tally("a", 1, 2), tally("b", 7));
    }

    @Test
    void aRecordThatWasCutShortIsNotThereAndAllBeforeItAre() throws IOException {
        int whole = forced(tally("a", 1), tally("b", 7)).length;
        byte[] bytes = forced(tally("a", 1, 2));
        for (int length = whole; length < bytes.length; length++) {
            assertThat(found(Arrays.copyOf(bytes, length)))
                    .as("%d of %d bytes", length, bytes.length)
                    .containsExactlyInAnyOrder(tally("a", 1), tally("b", 7));
        }
        byte[] torn = bytes.clone();
        torn[bytes.length - 1] ^= 1;
        assertThat(found(torn)).containsExactlyInAnyOrder(tally("a", 1), tally("b", 7));
    }

    @Test
    void recordsThatWereForcedTogetherAreThereTogetherWhateverPartOfThemIsMissing() throws IOException {
        int whole = forced(tally("a", 1)).length;
        try (RecordFile file = open(true)) {
            file.force(List.of(tally("a", 1, 2), tally("b", 7), tally("c", 3)));
        }
        byte[] bytes = Files.readAllBytes(directory.resolve("records"));
        assertThat(found(bytes)).containsExactlyInAnyOrder(tally("a", 1, 2), tally("b", 7), tally("c", 3));
        for (int from = whole; from < bytes.length; from++) {
            byte[] hole = bytes.clone();
            // A file system may write any of the pages, and the length, before the others.
            Arrays.fill(hole, from, Math.min(bytes.length, from + 5), (byte) 0);
            if (!Arrays.equals(hole, bytes)) {
                assertThat(found(hole)).as("zeros from byte %d", from).containsExactly(tally("a", 1));
            }
        }
        byte[] onlyLength = Arrays.copyOf(Arrays.copyOf(bytes, whole), bytes.length);
        assertThat(found(onlyLength)).containsExactly(tally("a", 1));
    }

    @Test
    void aDamagedLengthInFrontOfWhatWasPromisedEndsTheStart() throws IOException {
        int first = forced(tally("a", 1)).length;
        byte[] bytes = forced(tally("b", 7));
        byte[] second = Arrays.copyOfRange(bytes, first, bytes.length);
        for (int at = Long.BYTES + Integer.BYTES; at < first; at++) {
            byte[] damaged = bytes.clone();
            damaged[at] ^= (byte) 0x40;
            assertThatThrownBy(() -> found(damaged))
                    .as("byte %d", at)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("--removed");
        }
        byte[] twice = Arrays.copyOf(bytes, bytes.length + second.length);
        System.arraycopy(second, 0, twice, bytes.length, second.length);
        assertThatThrownBy(() -> found(twice)).isInstanceOf(IOException.class).hasMessageContaining("--removed");
    }

    @Test
    void theNameOfTheFileIsOnDiskBeforeAnythingIsPromisedInIt() throws IOException {
        Path records = directory.resolve("records");
        try (RecordFile file = open(false)) {
            assertThat(facts.staysNamed(records)).isTrue();
            long[] many = LongStream.range(0, 60_000).toArray();
            Object first = Files.getAttribute(records, "unix:ino");
            while (Files.getAttribute(records, "unix:ino").equals(first)) {
                file.force(List.of(tally("a", many)));
            }
            assertThat(facts.staysNamed(records)).isTrue();
        }
    }

    @Test
    void whatFollowsACutIsWrittenBehindWhatIsWhole() throws IOException {
        byte[] bytes = forced(tally("a", 1), tally("b", 7));
        assertThat(found(Arrays.copyOf(bytes, bytes.length - 1))).containsExactly(tally("a", 1));
        assertThat(found(forced(tally("c", 3)))).containsExactlyInAnyOrder(tally("a", 1), tally("c", 3));
    }

    @Test
    void aDamagedRecordEndsTheStart() throws IOException {
        int first = forced(tally("a", 1)).length;
        byte[] bytes = forced(tally("b", 7));
        bytes[first - 1] ^= 1;
        assertThatThrownBy(() -> found(bytes)).isInstanceOf(IOException.class).hasMessageContaining("--removed");
    }

    @Test
    void aFileThatIsMissingWhereTheMemberHasRunEndsTheStart() {
        assertThatThrownBy(() -> open(true))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is missing")
                .hasMessageContaining("--removed");
    }

    @Test
    void aFileThatIsCutBeforeItsFirstRecordEndsTheStartWhereTheMemberHasRun() throws IOException {
        byte[] bytes = forced(tally("a", 1));
        for (int length = 0; length < Long.BYTES + Integer.BYTES; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThatThrownBy(() -> found(cut))
                    .as("%d bytes", length)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("--removed");
        }
        Files.write(directory.resolve("records"), Arrays.copyOf(bytes, 3));
        assertThat(forced(tally("a", 1)))
                .as("the very first start was cut short")
                .isEqualTo(bytes);
    }

    @Test
    void eachCellIsGivenWhatTheFormerRunLeftThoughAnotherHasForcedSince() throws IOException {
        forced(tally("a", 1));
        try (RecordFile file = open(true)) {
            file.force(List.of(tally("a", 1, 2), tally("b", 7)));
            assertThat(file.records()).containsExactly(tally("a", 1));
        }
    }

    @Test
    void formerRecordsAreLeftOutWhenTheyAreMostOfTheFile() throws IOException {
        long[] many = LongStream.range(0, 60_000).toArray();
        try (RecordFile file = open(false)) {
            file.force(List.of(tally("b", 7)));
            for (int i = 0; i < 40; i++) {
                file.force(List.of(tally("a", many)));
            }
        }
        Path records = directory.resolve("records");
        assertThat(Files.size(records)).isLessThan(6L << 20);
        assertThat(found(Files.readAllBytes(records))).containsExactlyInAnyOrder(tally("b", 7), tally("a", many));
    }

    @Test
    void nothingIsForcedInAClosedFile() throws IOException {
        RecordFile file = open(false);
        file.close();
        assertThatThrownBy(() -> file.force(List.of(tally("a", 1)))).isInstanceOf(IOException.class);
    }
}
