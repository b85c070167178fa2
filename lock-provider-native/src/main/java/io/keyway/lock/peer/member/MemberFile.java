// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.member.MemberSlot.Table;
import io.keyway.lock.peer.member.StoredRecord.State;
import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.os.MachineFacts.FileFacts;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;

/**
 * What a member remembers over its end: two slots of 4 KiB, written in turn, each with its sum and forced before
 * anything that depends on it goes out; behind them room for the grants of a clean end. All of it is preallocated, so
 * that a full disk does not stop a write (on file systems that overwrite in place). One thread at a time; an interrupt
 * does not disturb it.
 */
public final class MemberFile implements AutoCloseable {
    static final long TABLE_AT = 2L * MemberSlot.SIZE;

    /** Preallocated for the grants of a clean end; for more of them the file grows, if the disk has room. */
    static final int TABLE_ROOM = 256 * 1024;

    /** A larger table is not kept: the next start waits instead. */
    static final int TABLE_LIMIT = 64 * 1024 * 1024;

    private static final int CHUNK = 64 * 1024;
    private static final int MAX_FACT_LENGTH = 128;

    private final Path path;
    private final MachineFacts facts;
    private final MemberSettings settings;
    private final RandomAccessFile file;
    private final long inode;
    private final MemberFileReader.Found found;
    private MemberSettings written;
    private long sequence;
    private byte[] newest;
    private long forcedEpoch;
    private boolean failed;

    private MemberFile(
            Path path, MachineFacts facts, MemberSettings settings, RandomAccessFile file, MemberFileReader.Found found)
            throws IOException {
        this.path = path;
        this.facts = facts;
        this.settings = settings;
        this.file = file;
        this.inode = inode();
        this.found = found;
        this.written = found.provable() ? settings : settings.withoutLockFile();
        this.sequence = found.sequence();
        this.newest = MemberFileReader.slot(file, sequence);
    }

    /**
     * Makes the file of a member whose cluster never ran, which is the word of whoever calls this: the first start
     * serves at once.
     *
     * @throws java.nio.file.FileAlreadyExistsException if there is a file
     * @throws IOException if it cannot be made; what may be left of it makes the next start wait
     */
    public static void createFresh(Path path, MachineFacts facts, MemberSettings settings) throws IOException {
        create(path, facts);
        try (MemberFile file = open(path, facts, settings)) {
            file.write(State.FRESH, new MemberRecord(1, 0, BootClock.NONE, false), Table.NONE);
        }
    }

    /**
     * Opens the file and judges what the last life left; a missing file is made. No slot is written before {@link
     * #force}.
     *
     * @throws IOException if it cannot be read or made, or the disk has no room for it
     */
    public static MemberFile open(Path path, MachineFacts facts, MemberSettings settings) throws IOException {
        return open(path, facts, settings, list -> false);
    }

    /**
     * The same, where cells elect each on their own.
     *
     * @param regrouped whether members with that {@link MemberSettings#listHash} have another number of cells: what was
     *     promised there was promised in other groups, and counts for none of these
     */
    public static MemberFile open(Path path, MachineFacts facts, MemberSettings settings, LongPredicate regrouped)
            throws IOException {
        boolean missing = !Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        if (missing) {
            create(path, facts);
        } else if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException(path + " is not a regular file");
        }
        RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw");
        try {
            MemberFileReader.Found found = missing
                    ? MemberFileReader.Found.NOTHING
                    : new MemberFileReader(path, file, facts, settings, regrouped).read();
            preallocate(file, TABLE_AT + TABLE_ROOM);
            return new MemberFile(path, facts, settings, file, found);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** Where it is. */
    Path path() {
        return path;
    }

    /** What was found when the file was opened. */
    public StartState start() {
        return found.start();
    }

    /** The member list of the last life that this file knows of; empty if there was none, or none that can be read. */
    public Optional<StoredList> list() {
        return found.list();
    }

    /** Whether the last life of this member ended before all others had confirmed its list. */
    public boolean waited() {
        return found.waited();
    }

    /** Whether the last life of this member served another algorithm, or had its names in other groups of cells. */
    public boolean moved() {
        return found.moved();
    }

    /** Whether the last life of this member had its names in other groups of cells, by the same algorithm. */
    public boolean isRegrouped() {
        return found.isRegrouped();
    }

    /**
     * Why nothing counts that a former life of this member has left in a file beside this one; empty if it counts. What
     * is lost has to be so on disk before the first {@link #force}, by which this directory is this member's own again.
     */
    Optional<String> lost() {
        return found.lost();
    }

    /**
     * The longest lease, in nanoseconds, that a former life of this member may have left, as far as the file knows; 0
     * if it knows of none.
     */
    public long longestTtl() {
        Optional<StoredRecord> stored = found.start() instanceof StartState.Restarted last
                ? Optional.of(last.stored())
                : found.start() instanceof StartState.Foreign other ? other.stored() : Optional.empty();
        return stored.map(last -> last.record().largestTtlNanos()).orElse(0L);
    }

    /** How long to wait before the first grant, from now, if nobody counts on this member for longer than a lease. */
    public Quarantine quarantine() {
        return Quarantine.of(found.start(), settings, 1, facts);
    }

    /**
     * What the previous runs leave to the one that starts.
     *
     * @param lostRecords as of {@link PreviousRun#of}
     * @param leases as of {@link io.keyway.lock.peer.service.Algorithm#leases}
     * @param now on the monotonic clock
     */
    PreviousRun previousRun(Optional<String> lostRecords, int leases, long now) {
        return PreviousRun.of(found.start(), lostRecords, settings, leases, facts, now);
    }

    /**
     * Whether the bytes of clients.lock say who may still believe in a grant of an earlier life. If not, what is
     * written says so too, until {@link #forgotten}: a host that comes soon must not trust them either.
     */
    public boolean provable() {
        return found.provable();
    }

    /**
     * No lease of an earlier life is believed in any more, so that all who believe have a byte of the present
     * clients.lock. What is written from now on says so.
     */
    public void forgotten() {
        written = settings;
    }

    /**
     * Returns the epoch of this incarnation, to be forced before its first grant.
     *
     * @param heard the highest epoch that anybody reported of this member, 0 if none
     */
    public long nextEpoch(long heard) {
        return Epoch.next(Math.max(found.start().storedEpoch(), forcedEpoch), heard, facts.wallMillis());
    }

    /**
     * The highest epoch of this member that anybody else may have seen.
     *
     * @param given the one in which it begins, if a floor of tokens has put that ahead of its clock; otherwise 0
     */
    public long lastEpoch(long given) {
        long known = Epoch.last(Math.max(found.start().storedEpoch(), forcedEpoch), facts.wallMillis());
        return given == 0 ? known : Math.max(known, Epoch.lastAfter(given));
    }

    /**
     * Writes an OPEN record and returns when it is on disk.
     *
     * @throws IOException if it may not be there, or if somebody else removed, replaced or wrote the file: the member
     *     must stop, and every later call throws too
     */
    public void force(MemberRecord record) throws IOException {
        write(State.OPEN, record, Table.NONE);
        if (record.epoch() != forcedEpoch) {
            write(State.OPEN, record, Table.NONE); // in both slots: one that is damaged later does not hide an epoch
            forcedEpoch = record.epoch();
        }
    }

    /**
     * Writes CLEAN with the grants that live; the last write of a life that has stopped granting.
     *
     * @param grants opaque to this class
     * @return false if they do not fit or could not be written; nothing is lost: the next start waits as after a crash
     */
    public boolean forceClean(MemberRecord record, List<byte[]> grants) {
        long size =
                grants.stream().mapToLong(g -> Integer.BYTES + (long) g.length).sum();
        if (failed || size > TABLE_LIMIT) {
            return false;
        }
        try {
            check();
            byte[] table = MemberSlot.table(grants);
            file.seek(TABLE_AT);
            file.write(table);
            file.getFD().sync();
            write(State.CLEAN, record, new Table(grants.size(), table.length, MemberSlot.crc(table, table.length)));
            return true;
        } catch (IOException e) {
            failed = true;
            return false;
        }
    }

    /** Closes the file; writes nothing. */
    @Override
    public void close() throws IOException {
        failed = true;
        file.close();
    }

    private void write(State state, MemberRecord record, Table table) throws IOException {
        if (failed) {
            throw new IOException("the member file " + path + " failed before or is closed");
        }
        boolean done = false;
        try {
            check();
            sequence++;
            newest = MemberSlot.encode(stored(state, record), table);
            file.seek(sequence % 2 * MemberSlot.SIZE);
            file.write(newest);
            file.getFD().sync();
            done = true;
        } finally {
            failed = !done;
        }
    }

    private StoredRecord stored(State state, MemberRecord record) {
        long boot = facts.bootNanos().orElse(BootClock.NONE); // before the monotonic clock, see Quarantine
        return new StoredRecord(
                sequence,
                state,
                record,
                written,
                fact(facts.bootId()),
                fact(facts.timeNamespace()),
                inode,
                boot,
                facts.nanoTime(),
                facts.wallMillis(),
                List.of());
    }

    private static String fact(Optional<String> fact) {
        return fact.filter(text -> text.length() <= MAX_FACT_LENGTH).orElse("");
    }

    /** Two members on one file is a limit, not a guarantee; what can be seen of it stops the later writer. */
    private void check() throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS) || inode() != inode) {
            throw new IOException("the member file " + path + " was removed or replaced while in use");
        }
        if (!Arrays.equals(newest, MemberFileReader.slot(file, sequence))) {
            throw new IOException("the member file " + path + " was written by something else while in use");
        }
    }

    private long inode() throws IOException {
        return facts.file(path).map(FileFacts::inode).orElse(0L);
    }

    /** A file that is gone after the power failed would let --init pass for true a second time. */
    private static void create(Path path, MachineFacts facts) throws IOException {
        Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        facts.forceName(path);
    }

    /** Writes zeros rather than setting a length: a sparse file has no room of its own. */
    private static void preallocate(RandomAccessFile file, long room) throws IOException {
        long length = file.length();
        if (length >= room) {
            return;
        }
        file.seek(length);
        byte[] zeros = new byte[CHUNK];
        for (long at = length; at < room; at += CHUNK) {
            file.write(zeros, 0, (int) Math.min(CHUNK, room - at));
        }
        file.getFD().sync();
    }
}
