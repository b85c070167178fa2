// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.counter.CounterAlgorithm;
import io.keyway.lock.peer.counter.CounterMessage.Tally;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.os.FakeFacts;
import io.keyway.lock.peer.os.SmallDisk;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.peer.wire.WireWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is forced is there at the next start, whole, or the start says why it is lost, and it stays lost. */
class RecordFileTest {
    private static final RecordCodec CODEC = new CounterAlgorithm().records().orElseThrow();
    /** Behind the page that is never written again. */
    private static final int FIRST = 4096;
    /** Of a group: its sign, sum, number, inode, time and length. */
    private static final int GROUP = 36;
    /** More groups than there is room for, several times over. */
    private static final int MANY = 3_000;

    @TempDir
    Path directory;

    private long inode = 7;
    private final FakeFacts facts = new FakeFacts() {
        @Override
        public Optional<FileFacts> file(Path path) throws IOException {
            return super.file(path).map(file -> new FileFacts(inode, file.changedMillis()));
        }
    };

    private Path path() {
        return directory.resolve("records");
    }

    private RecordFile open() throws IOException {
        return RecordFile.open(path(), CODEC, facts, Optional.empty());
    }

    private static Tally tally(String name, long... increments) {
        return new Tally(
                CounterAlgorithm.key(name), LongStream.of(increments).boxed().toList());
    }

    /** Of that many bytes, give or take a few. */
    private static Tally large(String name, int bytes) {
        return tally(
                name,
                LongStream.range(0, bytes / 4).map(each -> 1L << 20 | each).toArray());
    }

    private static int length(DurableRecord record) {
        WireWriter out = new WireWriter(RecordCodec.MAX_BYTES);
        CODEC.write(record, out);
        return GROUP + Integer.BYTES + out.toBytes().length;
    }

    private byte[] forced(DurableRecord... records) throws IOException {
        try (RecordFile file = open()) {
            for (DurableRecord record : records) {
                file.force(List.of(record));
            }
        }
        return Files.readAllBytes(path());
    }

    /** What a start finds in that file. */
    private List<DurableRecord> found(byte[] bytes) throws IOException {
        Files.write(path(), bytes);
        try (RecordFile file = open()) {
            assertThat(file.lost()).isEmpty();
            return file.records();
        }
    }

    /** Why it is lost what was in that file; it stays lost. */
    private String lost(byte[] bytes) throws IOException {
        Files.write(path(), bytes);
        String why;
        try (RecordFile file = open()) {
            why = file.lost().orElse("");
            assertThat(file.records()).isEmpty();
        }
        try (RecordFile again = open()) {
            assertThat(again.lost()).as("it stays lost").isPresent();
        }
        return why;
    }

    @Test
    void theLastRecordOfEachMachineIsThereAtTheNextStart() throws IOException {
        byte[] bytes = forced(tally("a", 1), tally("b", 7), tally("a", 1, 2));
        assertThat(found(bytes)).containsExactlyInAnyOrder(tally("a", 1, 2), tally("b", 7));
    }

    @Test
    void theFileIsMadeWithAllItsRoomAndGrowsByNoRecord() throws IOException {
        Object inode;
        try (RecordFile file = open()) {
            long size = Files.size(path());
            assertThat(size).isEqualTo(FIRST + 2L * RecordFile.ROOM);
            inode = Files.getAttribute(path(), "unix:ino");
            for (int i = 0; i < MANY; i++) {
                file.force(List.of(tally("a", i), tally("b", 7)));
            }
            assertThat(Files.size(path())).isEqualTo(size);
        }
        assertThat(Files.getAttribute(path(), "unix:ino")).isEqualTo(inode);
        assertThat(found(Files.readAllBytes(path()))).containsExactlyInAnyOrder(tally("a", MANY - 1), tally("b", 7));
    }

    @Test
    void recordsThatDoNotFitGetALargerFile() throws IOException {
        try (RecordFile file = open()) {
            file.force(List.of(tally("b", 7)));
            for (int i = 0; i < 10; i++) {
                file.force(List.of(large("a", 3 * RecordFile.ROOM)));
            }
            assertThat(facts.staysNamed(path())).isTrue();
        }
        assertThat(Files.size(path())).isLessThan(20L * RecordFile.ROOM);
        assertThat(found(Files.readAllBytes(path())))
                .containsExactlyInAnyOrder(tally("b", 7), large("a", 3 * RecordFile.ROOM));
    }

    /** Whatever part of a group is not there: it is not, and all before it is. */
    private void assertTorn(byte[] whole, byte[] before, int from, int to, DurableRecord... expected)
            throws IOException {
        // Each byte of what is small and of its front, which says what it is; of what is long some.
        boolean small = to - from <= 200;
        for (int at = from; at < to; at += small || at - from < 2 * GROUP ? 1 : (to - from) / 40) {
            byte[] torn = whole.clone();
            System.arraycopy(before, at, torn, at, to - at);
            if (!Arrays.equals(torn, whole)) {
                assertThat(found(torn)).as("not written from byte %d on", at).containsExactlyInAnyOrder(expected);
            }
            byte[] hole = whole.clone();
            int end = Math.min(to, at + 5);
            System.arraycopy(before, at, hole, at, end - at);
            if (!Arrays.equals(hole, whole)) {
                assertThat(found(hole)).as("not written at byte %d", at).containsExactlyInAnyOrder(expected);
            }
        }
    }

    @Test
    void recordsThatWereForcedTogetherAreThereTogetherWhateverPartOfThemIsMissing() throws IOException {
        byte[] before = forced(tally("a", 1), tally("b", 7));
        try (RecordFile file = open()) {
            file.force(List.of(tally("a", 1, 2), tally("b", 8), tally("c", 3)));
        }
        byte[] bytes = Files.readAllBytes(path());
        assertThat(found(bytes)).containsExactlyInAnyOrder(tally("a", 1, 2), tally("b", 8), tally("c", 3));
        int from = FIRST + length(tally("a", 1)) + length(tally("b", 7));
        assertTorn(bytes, before, from, from + 200, tally("a", 1), tally("b", 7));
    }

    /** It ends while it begins the other area; at first that is empty, and later it has what was forced long ago. */
    @Test
    void anAreaThatWasNotBegunWhollyIsNotBelieved() throws IOException {
        for (int round = 0; round < 3; round++) {
            Files.deleteIfExists(path());
            int area = 0;
            byte[] before;
            byte[] bytes;
            try (RecordFile file = open()) {
                file.force(List.of(tally("b", 7)));
                long next;
                do {
                    before = Files.readAllBytes(path());
                    file.force(List.of(large("a", 9_000)));
                    bytes = Files.readAllBytes(path());
                    next = Arrays.mismatch(before, bytes);
                    boolean begun = next < FIRST + GROUP || Math.abs(next - FIRST - RecordFile.ROOM) < GROUP;
                    area += begun ? 1 : 0;
                } while (area <= round);
            }
            int from = round % 2 == 0 ? FIRST + RecordFile.ROOM : FIRST;
            assertThat(found(bytes)).containsExactlyInAnyOrder(tally("b", 7), large("a", 9_000));
            assertTorn(bytes, before, from, from + 9_000, tally("b", 7), large("a", 9_000));
        }
    }

    @Test
    void whatFollowsATornGroupIsWrittenInItsPlace() throws IOException {
        byte[] before = forced(tally("a", 1));
        byte[] torn = forced(tally("b", 7, 8, 9));
        int end = FIRST + length(tally("a", 1)) + length(tally("b", 7, 8, 9));
        System.arraycopy(before, end - 2, torn, end - 2, 2);
        assertThat(found(torn)).containsExactly(tally("a", 1));
        assertThat(found(forced(tally("c", 3)))).containsExactlyInAnyOrder(tally("a", 1), tally("c", 3));
    }

    /** The power fails a while after the last group was written: the file was changed since, and by nobody else. */
    @Test
    void aFileWhoseLastGroupIsNotWholeIsNoCopy() throws IOException {
        byte[] before = forced(tally("a", 1));
        facts.file(path()); // the change is as old as the write
        facts.wall += 60_000;
        byte[] torn = forced(tally("b", 7, 8, 9));
        int end = FIRST + length(tally("a", 1)) + length(tally("b", 7, 8, 9));
        System.arraycopy(before, end - 2, torn, end - 2, 2);
        assertThat(found(torn)).containsExactly(tally("a", 1));
        facts.wall += 60_000;
        assertThat(lost(torn)).as("put back later").contains("changed by something else");
    }

    /** As above, as it begins the other area. */
    @Test
    void aFileWhoseOtherAreaIsNotBegunWhollyIsNoCopy() throws IOException {
        DurableRecord large = large("a", 9 * RecordFile.ROOM / 10);
        byte[] before = forced(tally("b", 7), large);
        facts.file(path()); // the change is as old as the write
        facts.wall += 60_000;
        byte[] torn = forced(large);
        int begin = Arrays.mismatch(before, torn);
        assertThat(begin).as("in the other area").isEqualTo(FIRST + RecordFile.ROOM);
        System.arraycopy(before, begin + 1_000, torn, begin + 1_000, torn.length - begin - 1_000);
        assertThat(found(torn)).containsExactlyInAnyOrder(tally("b", 7), large);
    }

    @Test
    void damageInFrontOfWhatWasPromisedLosesAllOfIt() throws IOException {
        byte[] bytes = forced(tally("a", 1), tally("b", 7));
        int first = FIRST + length(tally("a", 1));
        for (int at = FIRST; at < first; at++) {
            byte[] damaged = bytes.clone();
            damaged[at] ^= (byte) 0x40;
            assertThat(lost(damaged)).as("byte %d", at).contains("records cannot be believed: ");
        }
        byte[] twice = bytes.clone();
        int second = length(tally("b", 7));
        System.arraycopy(bytes, first, twice, first + second, second);
        assertThat(found(twice)).as("an old group behind the last one").hasSize(2);
    }

    @Test
    void aFileThatIsMissingEmptyOrCutIsLost() throws IOException {
        try (RecordFile file = open()) {
            assertThat(file.lost().orElse("")).contains("is missing");
        }
        assertThat(lost(Files.readAllBytes(path()))).contains("nothing was forced in it");
        byte[] bytes = forced(tally("a", 1));
        for (int length : new int[] {0, 3, FIRST - 1, FIRST, FIRST + 50, bytes.length - 1}) {
            assertThat(lost(Arrays.copyOf(bytes, length)))
                    .as("%d bytes", length)
                    .containsAnyOf("does not begin", "shorter", "size");
        }
        assertThat(lost(Arrays.copyOf(bytes, bytes.length + 1))).contains("size");
    }

    @Test
    void aFileOfAnotherVersionEndsTheStart() throws IOException {
        byte[] bytes = forced(tally("a", 1));
        bytes[Long.BYTES + 3]++;
        for (int length : new int[] {bytes.length, 600}) { // former versions began with a shorter file
            Files.write(path(), Arrays.copyOf(bytes, length));
            assertThatThrownBy(this::open).isInstanceOf(IOException.class).hasMessageContaining("of this version");
        }
    }

    /** So a file may look whose first write was cut short by the end of the machine. */
    @Test
    void aFileThatDoesNotSayWhatItIsIsLost() throws IOException {
        byte[] bytes = forced(tally("a", 1));
        assertThat(lost(new byte[bytes.length])).contains("does not begin");
    }

    @Test
    void aCopyAndAnEarlierStateOfTheFileAreLost() throws IOException {
        forced(tally("a", 1));
        byte[] backup = Files.readAllBytes(path());
        byte[] now = forced(tally("a", 1, 2));
        facts.wall += 60_000;
        assertThat(lost(backup)).as("written over it").contains("changed by something else");
        facts.wall -= 60_000;
        assertThat(found(now)).containsExactly(tally("a", 1, 2));
        inode = 8;
        assertThat(lost(now)).as("put in its place").contains("copy");
    }

    @Test
    void whatIsLostForAnotherReasonIsNotThereAtTheNextStart() throws IOException {
        forced(tally("a", 1));
        try (RecordFile file = RecordFile.open(path(), CODEC, facts, Optional.of("the directory is a copy"))) {
            assertThat(file.lost()).contains("the directory is a copy");
            assertThat(file.records()).isEmpty();
        }
        try (RecordFile file = open()) {
            assertThat(file.lost().orElse("")).contains("nothing was forced in it");
        }
        assertThat(found(forced(tally("b", 7)))).containsExactly(tally("b", 7));
    }

    /** A run leaves such a file that has waited for what was lost, and ends before its machines force anything. */
    @Test
    void aFileInWhichOnlyItsBeginningWasForcedIsThere() throws IOException {
        try (RecordFile file = open()) {
            assertThat(file.lost()).isPresent();
            file.counts();
        }
        byte[] begun = Files.readAllBytes(path());
        assertThat(found(begun)).isEmpty();
        try (RecordFile again = open()) {
            again.counts();
        }
        assertThat(Files.readAllBytes(path())).as("once").isEqualTo(begun);
        assertThat(found(forced(tally("a", 1)))).containsExactly(tally("a", 1));
        begun[FIRST + 1]++;
        assertThat(lost(begun)).as("cut short").contains("nothing was forced in it");
    }

    @Test
    void theNameOfTheFileIsOnDiskBeforeAnythingIsPromisedInIt() throws IOException {
        try (RecordFile file = open()) {
            assertThat(facts.staysNamed(path())).isTrue();
            Object first = Files.getAttribute(path(), "unix:ino");
            for (int i = 1; Files.getAttribute(path(), "unix:ino").equals(first); i++) {
                file.force(List.of(large("a", i * 1_000)));
            }
            assertThat(facts.staysNamed(path())).isTrue();
        }
    }

    @Test
    void eachCellIsGivenWhatTheFormerRunLeftThoughAnotherHasForcedSince() throws IOException {
        forced(tally("a", 1));
        try (RecordFile file = open()) {
            file.force(List.of(tally("a", 1, 2), tally("b", 7)));
            assertThat(file.records()).containsExactly(tally("a", 1));
        }
    }

    @Test
    void nothingIsForcedInAClosedFile() throws IOException {
        RecordFile file = open();
        file.close();
        assertThatThrownBy(() -> file.force(List.of(tally("a", 1)))).isInstanceOf(IOException.class);
    }

    @Test
    void aFullDiskStopsNoRecord() throws Exception {
        try (SmallDisk disk = SmallDisk.mount(directory.resolve("disk"));
                RecordFile file = RecordFile.open(disk.path().resolve("records"), CODEC, facts, Optional.empty())) {
            file.force(List.of(tally("a", 1)));
            disk.fill();
            for (int i = 0; i < MANY; i++) {
                file.force(List.of(tally("a", i), tally("b", 7)));
            }
        }
    }
}
