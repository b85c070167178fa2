// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
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
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the machines of an algorithm have forced: the last record of each, in a file beside the member file. Records are
 * appended, each with its length and its sum, and forced before anybody hears that they are there; when most of the
 * file is former records, it is written anew beside itself and put in its own place. One thread at a time, but for
 * {@link #records}.
 *
 * <p>A last record that is not whole was never relied on, and is cut off. Anything else that cannot be read, or a file
 * that is missing where this member has run, ends the start: what was forced cannot be waited for as a lease can. A
 * length that was damaged later and leads past the end of the file cannot be told from a record that is not whole: a
 * disk that changes what it has written is not guarded against.
 */
public final class RecordFile implements AutoCloseable {
    private static final long MAGIC = 0x4b65797761795246L; // "KeywayRF"
    private static final int FORMAT = 1;
    private static final int HEADER = Long.BYTES + Integer.BYTES;
    private static final int ENTRY_HEADER = 2 * Integer.BYTES;
    /** Of former records, before a file is written anew. */
    private static final long MOST_GARBAGE = 4L << 20;

    private final Path path;
    private final RecordCodec codec;
    private final Map<Key, byte[]> last = new LinkedHashMap<>();
    /** The last records of the former run: other threads read them while this run's are forced. */
    private List<byte[]> found = List.of();

    private RandomAccessFile file;
    private long size;
    private long live;
    private boolean failed;

    /**
     * Opens the file, or makes it.
     *
     * @param hasRun whether this member has run before: then the file must be there
     * @throws IOException if it cannot be used, or is not what the last run left, with what to do
     */
    static RecordFile open(Path path, RecordCodec codec, boolean hasRun) throws IOException {
        boolean missing = !Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        if (missing && hasRun) {
            throw new IOException(
                    path + " is missing, and this member has run before: what it promised to the others is"
                            + " in it. Put it back, or end this member for good and tell the others by --removed");
        }
        if (missing) {
            Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        }
        RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
        try {
            RecordFile opened = new RecordFile(path, codec, file);
            if (file.length() < HEADER) {
                if (hasRun) {
                    throw opened.damaged("it is shorter than its own beginning");
                }
                opened.begin(file); // its first write was cut short: nothing was promised
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

    private RecordFile(Path path, RecordCodec codec, RandomAccessFile file) {
        this.path = path;
        this.codec = codec;
        this.file = file;
    }

    private void begin(RandomAccessFile fresh) throws IOException {
        fresh.setLength(0);
        fresh.write(ByteBuffer.allocate(HEADER).putLong(MAGIC).putInt(FORMAT).array());
        fresh.getFD().sync();
        size = HEADER;
    }

    private void read() throws IOException {
        file.seek(0);
        if (file.readLong() != MAGIC || file.readInt() != FORMAT) {
            throw new IOException(path + " is no file of records of this version");
        }
        long end = file.length();
        size = HEADER;
        while (size < end) {
            byte[] entry = entry(end);
            if (entry.length == 0) {
                file.setLength(size);
                file.getFD().sync();
                return;
            }
            keep(decoded(entry), entry);
            size += ENTRY_HEADER + entry.length;
        }
    }

    /** The next entry; empty if the rest of the file is one that was not written to its end. */
    private byte[] entry(long end) throws IOException {
        long room = end - size - ENTRY_HEADER;
        if (room <= 0) {
            return new byte[0];
        }
        file.seek(size);
        int length = file.readInt();
        int crc = file.readInt();
        if (length > room) {
            return new byte[0];
        }
        byte[] entry = new byte[Math.max(0, length)];
        file.readFully(entry);
        if (length <= 0 || MemberSlot.crc(entry, length) != crc) {
            if (length == room) {
                return new byte[0];
            }
            throw damaged("the sum of a record is wrong");
        }
        return entry;
    }

    private DurableRecord decoded(byte[] entry) throws IOException {
        try {
            WireReader in = new WireReader(ByteBuffer.wrap(entry));
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
        live += ENTRY_HEADER + entry.length - (former == null ? 0 : ENTRY_HEADER + former.length);
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
        file.seek(size);
        for (DurableRecord record : records) {
            byte[] entry = encoded(record);
            write(file, entry);
            keep(record, entry);
            size += ENTRY_HEADER + entry.length;
        }
        file.getFD().sync();
        if (size - live > MOST_GARBAGE && size > 2 * live) {
            anew();
        }
        failed = false;
    }

    private byte[] encoded(DurableRecord record) {
        ByteBuffer bytes = ByteBuffer.allocate(RecordCodec.MAX_BYTES);
        codec.write(record, new WireWriter(bytes));
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    private static void write(RandomAccessFile to, byte[] entry) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(ENTRY_HEADER + entry.length);
        bytes.putInt(entry.length).putInt(MemberSlot.crc(entry, entry.length)).put(entry);
        to.write(bytes.array());
    }

    /** Nothing but the last records, beside the file, and then in its place. */
    private void anew() throws IOException {
        Path beside = path.resolveSibling(path.getFileName() + ".new");
        Files.deleteIfExists(beside);
        Files.createFile(beside, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        RandomAccessFile fresh = new RandomAccessFile(beside.toFile(), "rw");
        begin(fresh);
        for (byte[] entry : last.values()) {
            write(fresh, entry);
            size += ENTRY_HEADER + entry.length;
        }
        fresh.getFD().sync();
        Files.move(beside, path, StandardCopyOption.ATOMIC_MOVE);
        file.close();
        file = fresh;
    }

    /** Closes the file; writes nothing. */
    @Override
    public void close() throws IOException {
        failed = true;
        file.close();
    }
}
