// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import io.keyway.lock.LockUnavailableException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A file whose bytes this JVM locks. POSIX drops every lock of a process on a file when the process closes any
 * descriptor of it; hence one channel per file (inode) in the whole JVM, kept in the system properties so that two
 * class loaders share it, made of JDK types only, and never closed. Nothing but lock and unlock is done on the channel:
 * reading or forcing it from an interrupted thread would close it.
 */
public final class LockFile {
    /** Bytes 1 to LIMIT - 1 may be drawn; byte 0 is for a lock that everybody knows. */
    static final long LIMIT = 1L << 40;

    /** What came of trying one range. */
    public enum Outcome {
        TAKEN,
        /** Another process has a byte of it. */
        BUSY,
        /** This JVM has a byte of it. */
        THIS_JVM
    }

    private static final String REGISTRY = "io.keyway.lock.files.1";
    private static final Object GUARD = "guard";
    /**
     * Should the registry be swept away, a channel that became garbage would close, and every lock of the JVM on that
     * file with it.
     */
    private static final Set<FileChannel> NEVER_CLOSED = ConcurrentHashMap.newKeySet();

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int TRIES = 16;
    private static final long PATIENCE_NANOS = 2_000_000_000L;

    private final Path path;
    private final String key;
    private final FileChannel channel;
    private final ReentrantLock guard;
    private final TreeMap<Long, FileLock> own;
    private final String kernelName;
    /**
     * At most one: what the kernel says of a descriptor of this file, kept open so that a check needs no new
     * descriptor.
     */
    private final List<RandomAccessFile> kernel;

    @SuppressWarnings("unchecked") // only this class writes the entries
    private LockFile(Path path, String key, List<Object> entry) {
        this.path = path;
        this.key = key;
        this.channel = (FileChannel) entry.get(0);
        this.guard = (ReentrantLock) entry.get(1);
        this.own = (TreeMap<Long, FileLock>) entry.get(2);
        this.kernelName = (String) entry.get(3);
        this.kernel = (List<RandomAccessFile>) entry.get(4);
        NEVER_CLOSED.add(channel);
    }

    /** Opens the file, which is made if missing, or joins this JVM's open channel of it. */
    public static LockFile open(Path path) {
        Map<Object, Object> registry = registry();
        ReentrantLock guard = (ReentrantLock) Objects.requireNonNull(registry.get(GUARD));
        guard.lock();
        try {
            for (int i = 0; i < TRIES; i++) {
                String before = make(path);
                Object known = registry.get(before);
                if (known == null) {
                    FileChannel channel = FileChannel.open(
                            path, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
                    NEVER_CLOSED.add(channel);
                    if (!before.equals(keyOf(path))) {
                        continue; // replaced under our hands: this channel may be of either file
                    }
                    known = entry(channel);
                    registry.put(before, known);
                }
                @SuppressWarnings("unchecked") // only this class writes the entries
                List<Object> entry = (List<Object>) known;
                return new LockFile(path, before, entry);
            }
        } catch (IOException e) {
            throw unavailable("Cannot open " + path + ": " + e, e);
        } finally {
            guard.unlock();
        }
        throw unavailable("Cannot open " + path + ": it is being replaced again and again", null);
    }

    private static Map<Object, Object> registry() {
        @SuppressWarnings("unchecked") // only this class writes the property
        Map<Object, Object> registry =
                (Map<Object, Object>) System.getProperties().computeIfAbsent(REGISTRY, k -> {
                    Map<Object, Object> fresh = new ConcurrentHashMap<>();
                    fresh.put(GUARD, new ReentrantLock());
                    return fresh;
                });
        return registry;
    }

    /** Channel, guard, positions taken, the kernel's name of the file, what it says of a descriptor. */
    private static List<Object> entry(FileChannel channel) throws IOException {
        String kernelName = "";
        List<RandomAccessFile> kernel = List.of();
        // Learn how the kernel calls this file, by a byte that nobody else can have; tried again since somebody's close
        // may come between.
        for (int i = 0; i < TRIES && kernelName.isEmpty(); i++) {
            long position = draw();
            try (FileLock lock = channel.tryLock(position, 1, false)) {
                Optional<ProcLocks.Place> place = lock == null ? Optional.empty() : ProcLocks.SELF.find(position, "");
                if (place.isPresent()) {
                    kernel = List.of(ProcLocks.SELF.open(place.get().descriptor()));
                    kernelName = place.get().file();
                }
            } catch (OverlappingFileLockException e) {
                kernelName = ""; // drawn a byte that this JVM has
            }
        }
        return List.of(channel, new ReentrantLock(), new TreeMap<Long, FileLock>(), kernelName, kernel);
    }

    private static String make(Path path) throws IOException {
        try {
            return keyOf(path);
        } catch (NoSuchFileException missing) {
            try {
                Files.createFile(
                        path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            } catch (FileAlreadyExistsException e) {
                return keyOf(path);
            }
            return keyOf(path);
        }
    }

    /** The identity of what stands at this path; a symbolic link is itself, never its target. */
    public static String keyOf(Path path) throws IOException {
        return String.valueOf(Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .fileKey());
    }

    public static long draw() {
        return 1 + (RANDOM.nextLong() & Long.MAX_VALUE) % (LIMIT - 1);
    }

    public static LockUnavailableException unavailable(String message, @Nullable Throwable cause) {
        return new LockUnavailableException(message, null, null, cause);
    }

    public Path path() {
        return path;
    }

    /** Identity of the file that is locked: device and inode. */
    String key() {
        return key;
    }

    /** Whether the path still leads to the file that is locked. */
    public boolean sameFile() {
        return leadsTo(path, key);
    }

    /** Whether that is what stands at this path. */
    public static boolean leadsTo(Path path, String key) {
        try {
            return key.equals(keyOf(path));
        } catch (IOException e) {
            return false;
        }
    }

    /** Whether this system says which locks a process has; without it a vanished lock is not noticed. */
    public boolean checkable() {
        return !kernelName.isEmpty();
    }

    /** Takes one byte for this JVM, until {@link #release}. */
    public Outcome take(long position) {
        guard.lock();
        try {
            if (own.containsKey(position)) {
                return Outcome.THIS_JVM;
            }
            FileLock lock = channel.tryLock(position, 1, false);
            if (lock == null) {
                return Outcome.BUSY;
            }
            own.put(position, lock);
            return Outcome.TAKEN;
        } catch (OverlappingFileLockException e) {
            return Outcome.THIS_JVM;
        } catch (IOException e) {
            throw unavailable("Cannot lock a byte of " + path + ": " + e, e);
        } finally {
            guard.unlock();
        }
    }

    /** Takes a random byte that nobody has. A moment's wait is possible while another process examines the file. */
    long takeAny() {
        long start = System.nanoTime();
        do {
            long position = draw();
            if (take(position) == Outcome.TAKEN) {
                return position;
            }
            LockSupport.parkNanos(200_000);
        } while (System.nanoTime() - start < PATIENCE_NANOS);
        throw unavailable("Cannot lock any byte of " + path + ": a process keeps all of it locked", null);
    }

    /**
     * Takes one byte that nobody else is to have. A moment's wait is possible while another process examines the file.
     */
    void takeThis(long position) {
        long start = System.nanoTime();
        do {
            if (take(position) == Outcome.TAKEN) {
                return;
            }
            LockSupport.parkNanos(200_000);
        } while (System.nanoTime() - start < PATIENCE_NANOS);
        throw unavailable("Cannot lock byte " + position + " of " + path + ": another process has it", null);
    }

    /** Tries a byte and gives it back at once. */
    Outcome probe(long position) {
        return probe(position, position + 1);
    }

    private Outcome probe(long from, long to) {
        guard.lock();
        try (FileLock lock = channel.tryLock(from, to - from, false)) {
            return lock == null ? Outcome.BUSY : Outcome.TAKEN;
        } catch (OverlappingFileLockException e) {
            return Outcome.THIS_JVM;
        } catch (IOException e) {
            throw unavailable("Cannot lock a byte of " + path + ": " + e, e);
        } finally {
            guard.unlock();
        }
    }

    /**
     * Locks every byte but this JVM's own and the excepted ones, all at the same time, then gives them back: TAKEN
     * means that there was an instant at which nobody had one of them.
     */
    Outcome probeAllBut(Set<Long> excepted) {
        guard.lock();
        List<FileLock> ranges = new ArrayList<>();
        try {
            NavigableSet<Long> holes = new TreeSet<>(own.keySet());
            excepted.stream().filter(hole -> hole >= 1 && hole < LIMIT).forEach(holes::add);
            long from = 1;
            for (long hole : holes) {
                if (hole > from && !lockRange(from, hole, ranges)) {
                    return Outcome.BUSY;
                }
                from = Math.max(from, hole + 1);
            }
            return lockRange(from, LIMIT, ranges) ? Outcome.TAKEN : Outcome.BUSY;
        } catch (OverlappingFileLockException e) {
            return Outcome.THIS_JVM;
        } catch (IOException e) {
            throw unavailable("Cannot lock bytes of " + path + ": " + e, e);
        } finally {
            ranges.forEach(LockFile::giveBack);
            guard.unlock();
        }
    }

    private boolean lockRange(long from, long to, List<FileLock> ranges) throws IOException {
        if (from >= to) {
            return true;
        }
        FileLock lock = channel.tryLock(from, to - from, false);
        if (lock == null) {
            return false;
        }
        ranges.add(lock);
        return true;
    }

    private static void giveBack(FileLock lock) {
        try {
            lock.release();
        } catch (IOException e) {
            throw unavailable("Cannot give back a lock: " + e, e);
        }
    }

    /** Positions that this JVM has taken, whoever in it. */
    Set<Long> own() {
        guard.lock();
        try {
            return Set.copyOf(own.keySet());
        } finally {
            guard.unlock();
        }
    }

    public void release(long position) {
        guard.lock();
        try {
            FileLock lock = own.remove(position);
            if (lock != null) {
                giveBack(lock);
            }
        } finally {
            guard.unlock();
        }
    }

    /** What has become of a byte that this JVM took. Without {@link #checkable} a vanished lock counts as held. */
    public OsLockStatus status(long position) {
        guard.lock();
        try {
            FileLock lock = own.get(position);
            if (lock == null) {
                return OsLockStatus.RELEASED;
            }
            if (!sameFile()) {
                return OsLockStatus.REPLACED;
            }
            return lock.isValid() && inKernel(position) ? OsLockStatus.HELD : OsLockStatus.VANISHED;
        } finally {
            guard.unlock();
        }
    }

    private boolean inKernel(long position) {
        for (RandomAccessFile descriptor : kernel) {
            try {
                if (ProcLocks.at(descriptor, position, kernelName).isPresent()) {
                    return true;
                }
            } catch (IOException e) {
                break; // somebody closed that descriptor: look at the others
            }
        }
        return !checkable() || ProcLocks.SELF.find(position, kernelName).isPresent();
    }
}
