// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import java.nio.file.Path;
import java.util.Set;

/**
 * Proof of life and of death on one machine: each client locks a random byte of clients.lock before it says hello and
 * keeps it for its life; the operating system frees it when the process ends, however it ends, and never before. A
 * stopped process keeps its byte. All methods may be called from any thread and return without waiting for another
 * process.
 */
public final class ByteLocks {
    /** What a byte says about its process. */
    public enum Life {
        /** Nobody has the byte: its process is dead, or gave it back. */
        DEAD,
        /** Another process has the byte; or is trying it at this moment, so ask again before a decision that costs. */
        ALIVE,
        /** This JVM has the byte, under this class loader or another. */
        THIS_JVM,
        /** The file was removed or replaced: bytes of the one we have say nothing. */
        UNKNOWN
    }

    /** What all bytes together say. */
    public enum Others {
        /** There was an instant at which no process had a byte, this JVM's own and the excepted ones aside. */
        NONE,
        /** Some other process has a byte, stopped or not. */
        SOME,
        /** No proof either way: count it as SOME. */
        UNKNOWN
    }

    private final LockFile file;

    private ByteLocks(LockFile file) {
        this.file = file;
    }

    /**
     * Opens clients.lock, which is made if missing.
     *
     * @throws io.keyway.lock.LockUnavailableException if it cannot be opened
     */
    public static ByteLocks open(Path path) {
        return new ByteLocks(LockFile.open(path));
    }

    /** Identity of the file, device and inode: what the member record and a client compare to find it replaced. */
    public String fileKey() {
        return file.key();
    }

    /** Whether the path still leads to the file that was opened; if not, holders latch LOST and hosts trust no byte. */
    public boolean sameFile() {
        return file.sameFile();
    }

    /**
     * Whether this system lets a process see which locks it has (Linux with /proc). If not, {@link #stillHeld} cannot
     * notice a lock that vanished.
     */
    public boolean checkable() {
        return file.checkable();
    }

    /**
     * Takes a random byte in [1, 2^40) for this client, until {@link #release}.
     *
     * @throws io.keyway.lock.LockUnavailableException if the file was replaced, or a process keeps all of it locked for
     *     2 s
     */
    public long take() {
        long position = file.takeAny();
        if (!file.sameFile()) {
            file.release(position);
            throw LockFile.unavailable(
                    file.path() + " was removed or replaced while a byte of it was being locked; try again", null);
        }
        return position;
    }

    /**
     * Takes this very byte, until {@link #release}.
     *
     * @throws io.keyway.lock.LockUnavailableException if the file was replaced, or another process keeps the byte
     *     locked for 2 s
     */
    public void take(long position) {
        file.takeThis(position);
        if (!file.sameFile()) {
            file.release(position);
            throw LockFile.unavailable(
                    file.path() + " was removed or replaced while a byte of it was being locked; try again", null);
        }
    }

    /** Says whether a byte that this JVM took is in force: not given back, in the kernel's table, its file in place. */
    public boolean stillHeld(long position) {
        return status(position) == OsLockStatus.HELD;
    }

    /** Says what has become of a byte that this JVM took. */
    public OsLockStatus status(long position) {
        return file.status(position);
    }

    /** Gives a byte back; does nothing if this JVM does not have it. The caller holds no lease under it any more. */
    public void release(long position) {
        file.release(position);
    }

    /** Says whether the process that told us this byte is dead. */
    public Life probe(long position) {
        if (position < 1 || position >= LockFile.LIMIT) {
            return Life.UNKNOWN;
        }
        LockFile.Outcome outcome = file.probe(position);
        if (!file.sameFile()) {
            return Life.UNKNOWN;
        }
        return switch (outcome) {
            case TAKEN -> Life.DEAD;
            case BUSY -> Life.ALIVE;
            case THIS_JVM -> Life.THIS_JVM;
        };
    }

    /** Bytes that this JVM has, under any class loader that shares the registry. */
    public Set<Long> own() {
        return file.own();
    }

    /**
     * Says whether any process but this JVM lives. What this JVM's own clients ({@link #own}) believe, the caller must
     * find out otherwise.
     *
     * @param excepted bytes of processes that are known to believe nothing that the caller has not recorded
     */
    public Others others(Set<Long> excepted) {
        LockFile.Outcome outcome = file.probeAllBut(excepted);
        if (!file.sameFile()) {
            return Others.UNKNOWN;
        }
        return switch (outcome) {
            case TAKEN -> Others.NONE;
            case BUSY -> Others.SOME;
            // A byte of this JVM that is not in the registry: somebody has replaced the system properties.
            case THIS_JVM -> Others.UNKNOWN;
        };
    }
}
