// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.os.MachineFacts.FileFacts;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What the machines of an algorithm have forced: the last record of each, in a file beside the member file. It counts
 * as {@link PreviousRun} says. One thread at a time, except for {@link #records}.
 *
 * <p>The file has two areas of one size, all of it preallocated, so that a full disk does not stop a write (on file
 * systems that overwrite in place). Records are appended to one area. When that is full, the last record of each
 * machine is written to the beginning of the other one, over what it had before, and appending goes on there. Only
 * records that do not fit into an area any more need room on the disk: the file is then made again, larger, beside
 * itself, and put in its own place.
 *
 * <p>What is forced together is one group, with its number, its length and its sum. The caller waits for the disk,
 * and forces no more if that fails. So a group that is not whole and has none behind it is the last one, of which
 * nobody has heard: it is left out, with all its records. One that has a later group behind it was promised, as was
 * that: the file is damaged then, and all that was in it is lost. So it is if the file is missing or without a group,
 * or is not the one that was written: each group says in which file it was written, and when. If the power fails while
 * a group is written, the file was changed later than its last whole group says: then the head of the one that is not
 * whole says when. A disk that changes the last group after it has written it is not guarded against.
 *
 * <p>The first group of a new file has no records ({@link #counts}). It is written when the member file says for how
 * long what is lost is to be waited for. A file without it was made by a start that was cut short before.
 */
public final class RecordFile implements AutoCloseable {
    private static final long MAGIC = 0x4b65797761795246L; // "KeywayRF"
    private static final int FORMAT = 3;
    /** Magic, format, the size of an area; in a page of its own, which is never written again. */
    private static final int HEADER = 4096;

    /** The size of an area, if no more is needed. */
    static final int ROOM = 64 * 1024;

    private static final int MOST = 1 << 30;

    private static final int GROUP = 0x4b577267; // "KWrg"
    /** Where that begins of which the sum is. */
    private static final int SUMMED = 2 * Integer.BYTES;
    /** Behind the number: the inode of the file, and the wall clock. */
    private static final int INODE = SUMMED + Long.BYTES;

    private static final int WALL = INODE + Long.BYTES;
    /** GROUP, the sum of all that follows it, the number, inode and time, the length of the records. */
    private static final int GROUP_HEADER = WALL + Long.BYTES + Integer.BYTES;

    /** Why what was in the file does not count. */
    private static final class Lost extends Exception {
        private static final long serialVersionUID = 1;

        Lost(String why) {
            super(why);
        }
    }

    private final Path path;
    private final RecordCodec codec;
    private final MachineFacts facts;
    private final Map<Key, byte[]> last = new LinkedHashMap<>();
    /** The last records of the former run: other threads read them while this run's are forced. */
    private List<byte[]> found = List.of();
    /** Empty: this is the file that the former run has left. */
    private Optional<String> lost = Optional.empty();

    private @Nullable RandomAccessFile file;
    private long inode;
    /** Of an area. */
    private int room;
    /** The area that is appended to, 0 or 1, and where in it. */
    private int area;

    private int size;
    /** Of the last group that is whole; 0 if nothing was forced. */
    private long number;

    private boolean failed;

    /**
     * Opens the file that the former run has left. If its records are lost, an empty file that is on disk takes its
     * place, so that no later run believes in it.
     *
     * @param lost why nothing that is in the file counts; empty if that is for the file to say
     * @throws IOException if it cannot be used, or is of another version
     */
    static RecordFile open(Path path, RecordCodec codec, MachineFacts facts, Optional<String> lost) throws IOException {
        RecordFile opened = new RecordFile(path, codec, facts);
        try {
            opened.lost = lost.isPresent() ? lost : opened.find();
            if (opened.lost.isPresent()) {
                opened.begin();
            }
            return opened;
        } catch (IOException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    /**
     * What a former run has left in that file, as far as it can be believed; changes nothing.
     *
     * @throws IOException as of {@link #open}
     */
    static List<DurableRecord> look(Path path, RecordCodec codec, MachineFacts facts) throws IOException {
        try (RecordFile looked = new RecordFile(path, codec, facts)) {
            return looked.find().isPresent() ? List.of() : looked.records();
        }
    }

    /** What a former run has forced is lost for that reason, unless it is already: an empty file takes its place. */
    void lose(String why) throws IOException {
        if (lost.isEmpty()) {
            lost = Optional.of(why);
            found = List.of();
            begin();
        }
    }

    private RecordFile(Path path, RecordCodec codec, MachineFacts facts) {
        this.path = path;
        this.codec = codec;
        this.facts = facts;
    }

    /** Why what a former run has forced is lost; empty if {@link #records} has it. */
    Optional<String> lost() {
        return lost;
    }

    private static RandomAccessFile create(Path path, int room) throws IOException {
        Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
        try {
            ByteBuffer whole = ByteBuffer.allocate(HEADER + 2 * room);
            file.write(whole.putLong(MAGIC).putInt(FORMAT).putInt(room).array());
            file.getFD().sync();
            return file;
        } catch (IOException e) {
            file.close();
            throw e;
        }
    }

    private RandomAccessFile file() {
        return Objects.requireNonNull(file, "no file is open");
    }

    /** An empty file, whose name is on disk. */
    private void begin() throws IOException {
        close();
        Files.deleteIfExists(path);
        last.clear();
        number = 0;
        area = 0;
        size = 0;
        room = ROOM;
        file = create(path, room);
        inode = inode();
        facts.forceName(path);
        failed = false;
    }

    private long inode() throws IOException {
        return facts.file(path).map(FileFacts::inode).orElse(0L);
    }

    /** Finds what the former run has left. Returns why that is lost; empty if it is there. */
    private Optional<String> find() throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.of(path + " is missing");
        }
        Optional<FileFacts> now = facts.file(path); // before anything else touches the file
        RandomAccessFile former = new RandomAccessFile(path.toFile(), "rw");
        file = former;
        inode = now.map(FileFacts::inode).orElse(0L);
        try {
            if (former.length() > MOST) {
                throw new Lost("it is longer than any of them");
            }
            byte[] bytes = new byte[(int) former.length()];
            former.readFully(bytes);
            read(ByteBuffer.wrap(bytes), now);
        } catch (Lost e) {
            return Optional.of(path + " cannot be believed: " + e.getMessage());
        }
        found = List.copyOf(last.values());
        return Optional.empty();
    }

    private void read(ByteBuffer all, Optional<FileFacts> now) throws IOException, Lost {
        if (all.limit() < Long.BYTES + Integer.BYTES || all.getLong() != MAGIC) {
            throw new Lost("it does not begin as a file of records");
        } else if (all.getInt() != FORMAT) {
            throw new IOException(path + " is no file of records of this version: start the version that wrote it, or"
                    + " take it away, so that this member waits, and asks the others what it has promised");
        } else if (all.limit() < HEADER) {
            throw new Lost("it is shorter than its own beginning");
        }
        room = all.getInt();
        if (room < GROUP_HEADER || all.limit() != HEADER + 2L * room) {
            throw new Lost("it has not the size that it begins with");
        }
        area = first(all, 1) > first(all, 0) ? 1 : 0;
        if (first(all, area) == 0) {
            throw new Lost("nothing was forced in it, and the start that made it was cut short");
        }
        ByteBuffer newest = readArea(all.slice(start(), room));
        Optional<String> altered = altered(newest, now);
        if (altered.isPresent()
                && begun(all).stream()
                        .allMatch(unfinished -> altered(unfinished, now).isPresent())) {
            throw new Lost(altered.get());
        }
        noneLater(all);
    }

    private static Optional<String> altered(ByteBuffer group, Optional<FileFacts> now) {
        return MemberFileReader.altered("this file", group.getLong(INODE), group.getLong(WALL), now);
    }

    /** The heads of groups that may have been begun last: behind the last one, or in the other area. */
    private List<ByteBuffer> begun(ByteBuffer all) {
        List<ByteBuffer> begun = new ArrayList<>();
        for (int at : new int[] {start() + size, HEADER + (1 - area) * room}) {
            boolean fits = at + GROUP_HEADER <= all.limit();
            if (fits && all.getInt(at) == GROUP && all.getLong(at + SUMMED) == number + 1) {
                begun.add(all.slice(at, GROUP_HEADER));
            }
        }
        return begun;
    }

    private int start() {
        return HEADER + area * room;
    }

    /** The number of the group with which that area begins; 0 if none does. */
    private long first(ByteBuffer all, int which) {
        ByteBuffer group = group(all.slice(HEADER + which * room, room), 0);
        return group == null ? 0 : group.getLong(SUMMED);
    }

    /** The last whole group of that area, which begins with one. */
    private ByteBuffer readArea(ByteBuffer bytes) throws Lost {
        ByteBuffer newest = bytes;
        for (ByteBuffer group = group(bytes, 0); group != null; group = group(bytes, size)) {
            long next = group.getLong(SUMMED);
            if (size > 0 && next != number + 1) {
                break; // written before this area was written again, unless it is a later one
            }
            number = next;
            newest = group;
            keep(group.duplicate().position(GROUP_HEADER));
            size += group.limit();
        }
        return newest;
    }

    /** The whole group that begins there; null if none does. */
    private static @Nullable ByteBuffer group(ByteBuffer all, int at) {
        int room = all.limit() - at - GROUP_HEADER;
        if (room < 0 || all.getInt(at) != GROUP) {
            return null;
        }
        int length = all.getInt(at + GROUP_HEADER - Integer.BYTES);
        if (length < 0 || length > room) {
            return null;
        }
        ByteBuffer group = all.slice(at, GROUP_HEADER + length);
        return sum(group) == group.getInt(Integer.BYTES) ? group : null;
    }

    private static int sum(ByteBuffer group) {
        CRC32C crc = new CRC32C();
        crc.update(group.duplicate().position(SUMMED));
        return (int) crc.getValue();
    }

    private void keep(ByteBuffer records) throws Lost {
        while (records.hasRemaining()) {
            int length = records.remaining() < Integer.BYTES ? -1 : records.getInt();
            if (length < 0 || length > records.remaining()) {
                throw new Lost("a record is longer than its group");
            }
            byte[] entry = new byte[length];
            records.get(entry);
            try {
                last.put(codec.key(decoded(entry)), entry);
            } catch (WireException e) {
                throw new Lost(String.valueOf(e.getMessage()));
            }
        }
    }

    /** Nobody has heard of what follows the last group, unless a later one stands somewhere. */
    private void noneLater(ByteBuffer all) throws Lost {
        for (int at = HEADER; at + GROUP_HEADER <= all.limit(); at++) {
            ByteBuffer later = group(all, at);
            if (later != null && later.getLong(SUMMED) > number) {
                throw new Lost("a group of records is not whole, and byte " + at + " begins a later one");
            }
        }
    }

    private DurableRecord decoded(byte[] entry) throws WireException {
        WireReader in = new WireReader(entry);
        DurableRecord record = codec.read(in);
        in.end();
        return record;
    }

    /**
     * The member file says how long a run must wait for what may have been lost here: from now on the file counts, even
     * if nothing else is forced in it. Otherwise each start would wait as long as the first one.
     *
     * @throws IOException as {@link #force}
     */
    void counts() throws IOException {
        if (number == 0) {
            force(List.of());
        }
    }

    /** The machine that a record is of. */
    Key key(DurableRecord record) {
        return codec.key(record);
    }

    /** The last record of each machine that the former run left. On any thread. */
    List<DurableRecord> records() throws IOException {
        List<DurableRecord> records = new ArrayList<>();
        try {
            for (byte[] entry : found) {
                records.add(decoded(entry));
            }
        } catch (WireException e) {
            throw new IOException("a record that was read cannot be read again", e);
        }
        return records;
    }

    /**
     * Returns when all of them are on disk.
     *
     * @throws IOException if they may not be there: the member must stop, and every later call throws too
     */
    void force(Collection<DurableRecord> records) throws IOException {
        if (failed) {
            throw new IOException("the records in " + path + " failed before or are closed");
        }
        failed = true;
        List<byte[]> entries = new ArrayList<>(records.size());
        for (DurableRecord record : records) {
            byte[] entry = encoded(record);
            entries.add(entry);
            last.put(codec.key(record), entry);
        }
        if (length(entries) > room - size) {
            entries = List.copyOf(last.values());
            area = 1 - area;
            size = 0;
        }
        if (length(entries) > room) {
            enlarge(length(entries));
        }
        append(entries);
        file().getFD().sync();
        failed = false;
    }

    private byte[] encoded(DurableRecord record) {
        WireWriter bytes = new WireWriter(RecordCodec.MAX_BYTES);
        codec.write(record, bytes);
        return bytes.toBytes();
    }

    private static int length(Collection<byte[]> entries) {
        return GROUP_HEADER
                + entries.stream()
                        .mapToInt(entry -> Integer.BYTES + entry.length)
                        .sum();
    }

    private void append(Collection<byte[]> entries) throws IOException {
        ByteBuffer group = ByteBuffer.allocate(length(entries));
        group.putInt(GROUP).putInt(0).putLong(++number).putLong(inode).putLong(facts.wallMillis());
        group.putInt(group.limit() - GROUP_HEADER);
        entries.forEach(entry -> group.putInt(entry.length).put(entry));
        group.flip().putInt(Integer.BYTES, sum(group));
        file().seek(start() + size);
        file().write(group.array());
        size += group.limit();
    }

    /** The last records, in a larger file beside this one, and then in its place. The caller appends them once more. */
    private void enlarge(int needed) throws IOException {
        Path beside = path.resolveSibling(path.getFileName() + ".new");
        Files.deleteIfExists(beside);
        while (room < 2 * needed) {
            room *= 2;
        }
        file().close();
        file = create(beside, room);
        inode = facts.file(beside).map(FileFacts::inode).orElse(0L);
        area = 0;
        size = 0;
        append(last.values());
        file().getFD().sync();
        Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE);
        // Otherwise the former file might be back after a crash, without what is forced from now on.
        facts.forceName(path);
    }

    /** Closes the file; writes nothing. */
    @Override
    public void close() throws IOException {
        failed = true;
        RandomAccessFile open = file;
        if (open != null) {
            open.close();
        }
    }
}
