// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.os.MachineFacts;
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
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What the machines of an algorithm have forced: the last record of each, in a file beside the member file. Records are
 * appended and forced before anybody hears that they are there; when most of the file is former records, it is written
 * anew beside itself and put in its own place. One thread at a time, but for {@link #records}.
 *
 * <p>What is forced together is one group, with its number, its length and its sum. Whoever forces waits for the disk,
 * and forces no more if that fails. So a group that is not whole and has none behind it is the last one, of which
 * nobody was told: it is cut off, with all its records. One that has a whole group behind it was promised, as was that:
 * like anything else that cannot be read, or a file that is missing where this member has run, it ends the start, since
 * what was forced cannot be waited for as a lease can. A disk that changes the last group after it has written it is
 * not guarded against.
 */
public final class RecordFile implements AutoCloseable {
    private static final long MAGIC = 0x4b65797761795246L; // "KeywayRF"
    private static final int FORMAT = 2;
    private static final int HEADER = Long.BYTES + Integer.BYTES;
    private static final int GROUP = 0x4b577267; // "KWrg"
    /** Where that begins of which the sum is. */
    private static final int SUMMED = 2 * Integer.BYTES;
    /** GROUP, the sum of all that follows it, the number, the length of the records. */
    private static final int GROUP_HEADER = SUMMED + Long.BYTES + Integer.BYTES;
    /** Of former records, before a file is written anew. */
    private static final long MOST_GARBAGE = 4L << 20;

    private final Path path;
    private final RecordCodec codec;
    private final MachineFacts facts;
    private final Map<Key, byte[]> last = new LinkedHashMap<>();
    /** The last records of the former run: other threads read them while this run's are forced. */
    private List<byte[]> found = List.of();

    private RandomAccessFile file;
    private long size;
    private long live;
    /** Of the last group that is whole. */
    private long number;

    private boolean failed;

    /**
     * Opens the file, or makes it.
     *
     * @param hasRun whether this member has run before: then the file must be there
     * @throws IOException if it cannot be used, or is not what the last run left, with what to do
     */
    static RecordFile open(Path path, RecordCodec codec, MachineFacts facts, boolean hasRun) throws IOException {
        boolean missing = !Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        if (missing && hasRun) {
            throw new IOException(
                    path + " is missing, and this member has run before: what it promised to the others is"
                            + " in it. Put it back, or end this member for good and tell the others by --removed");
        }
        if (missing) {
            create(path);
            facts.forceName(path);
        }
        RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
        try {
            RecordFile opened = new RecordFile(path, codec, facts, file);
            if (file.length() < HEADER) {
                if (hasRun) {
                    throw opened.damaged("it is shorter than its own beginning");
                }
                opened.begin(); // its first write was cut short: nothing was promised
            } else {
                opened.read();
            }
            opened.found = List.copyOf(opened.last.values());
            return opened;
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private RecordFile(Path path, RecordCodec codec, MachineFacts facts, RandomAccessFile file) {
        this.path = path;
        this.codec = codec;
        this.facts = facts;
        this.file = file;
    }

    private static void create(Path path) throws IOException {
        Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }

    private void begin() throws IOException {
        file.setLength(0);
        file.seek(0);
        file.write(ByteBuffer.allocate(HEADER).putLong(MAGIC).putInt(FORMAT).array());
        file.getFD().sync();
        size = HEADER;
        number = 0;
    }

    private void read() throws IOException {
        byte[] bytes = new byte[Math.toIntExact(file.length())];
        file.seek(0);
        file.readFully(bytes);
        ByteBuffer all = ByteBuffer.wrap(bytes);
        if (all.getLong() != MAGIC || all.getInt() != FORMAT) {
            throw new IOException(path + " is no file of records of this version");
        }
        size = HEADER;
        while (size < bytes.length) {
            ByteBuffer group = group(all, (int) size);
            if (group == null) {
                cutOff(all);
                return;
            }
            long next = group.getLong(SUMMED);
            if (next != ++number) {
                throw damaged("group " + next + " of records stands where " + number + " has to be");
            }
            keep(group.position(GROUP_HEADER));
            size += group.limit();
        }
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

    private void keep(ByteBuffer records) throws IOException {
        while (records.hasRemaining()) {
            int length = records.remaining() < Integer.BYTES ? -1 : records.getInt();
            if (length < 0 || length > records.remaining()) {
                throw damaged("a record is longer than its group");
            }
            byte[] entry = new byte[length];
            records.get(entry);
            keep(decoded(entry), entry);
        }
    }

    /** Nobody was told of what begins here, unless another group stands behind it. */
    private void cutOff(ByteBuffer all) throws IOException {
        for (int at = (int) size + 1; at + GROUP_HEADER <= all.limit(); at++) {
            ByteBuffer later = group(all, at);
            if (later != null && later.getLong(SUMMED) > number) {
                throw damaged("a group of records is not whole, and byte " + at + " begins a later one");
            }
        }
        file.setLength(size);
        file.getFD().sync();
    }

    private DurableRecord decoded(byte[] entry) throws IOException {
        try {
            WireReader in = new WireReader(entry);
            DurableRecord record = codec.read(in);
            in.end();
            return record;
        } catch (WireException e) {
            throw damaged(String.valueOf(e.getMessage()));
        }
    }

    private IOException damaged(String why) {
        return new IOException(
                path + " cannot be read from byte " + size + " on (" + why + "): what this member promised"
                        + " to the others is in it. Put a whole copy back, or end this member for good and tell the "
                        + "others by"
                        + " --removed");
    }

    private void keep(DurableRecord record, byte[] entry) {
        byte[] former = last.put(codec.key(record), entry);
        live += alone(entry) - (former == null ? 0 : alone(former));
    }

    /** The bytes of a group with that record alone. */
    private static int alone(byte[] entry) {
        return GROUP_HEADER + Integer.BYTES + entry.length;
    }

    /** The machine that a record is of. */
    Key key(DurableRecord record) {
        return codec.key(record);
    }

    /** The last record of each machine that the former run left. On any thread. */
    List<DurableRecord> records() throws IOException {
        List<DurableRecord> records = new ArrayList<>();
        for (byte[] entry : found) {
            records.add(decoded(entry));
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
            keep(record, entry);
        }
        append(entries);
        file.getFD().sync();
        if (size - live > MOST_GARBAGE && size > 2 * live) {
            anew();
        }
        failed = false;
    }

    private byte[] encoded(DurableRecord record) {
        WireWriter bytes = new WireWriter(RecordCodec.MAX_BYTES);
        codec.write(record, bytes);
        return bytes.toBytes();
    }

    private void append(Collection<byte[]> entries) throws IOException {
        int length =
                entries.stream().mapToInt(entry -> Integer.BYTES + entry.length).sum();
        ByteBuffer group = ByteBuffer.allocate(GROUP_HEADER + length);
        group.putInt(GROUP).putInt(0).putLong(++number).putInt(length);
        entries.forEach(entry -> group.putInt(entry.length).put(entry));
        group.flip().putInt(Integer.BYTES, sum(group));
        file.seek(size);
        file.write(group.array());
        size += group.limit();
    }

    /** Nothing but the last records, beside the file, and then in its place. */
    private void anew() throws IOException {
        Path beside = path.resolveSibling(path.getFileName() + ".new");
        Files.deleteIfExists(beside);
        create(beside);
        RandomAccessFile former = file;
        file = new RandomAccessFile(beside.toFile(), "rw");
        former.close();
        begin();
        for (byte[] entry : last.values()) {
            append(List.of(entry));
        }
        file.getFD().sync();
        Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE);
        // Otherwise the former file might be back after a crash, without what is forced from now on.
        facts.forceName(path);
    }

    /** Closes the file; writes nothing. */
    @Override
    public void close() throws IOException {
        failed = true;
        file.close();
    }
}
