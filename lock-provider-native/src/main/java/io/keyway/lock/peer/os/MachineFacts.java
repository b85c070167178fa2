// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What this machine says of its clocks and files. Whatever is missing makes a restarted member wait longer, never
 * shorter.
 */
public interface MachineFacts {
    /** The boot clock is read in steps of this size, downwards. */
    long BOOT_STEP_NANOS = 10_000_000L;

    /** Identity and change time of a file. */
    record FileFacts(long inode, long changedMillis) {}

    /** Identity of this run of the operating system. */
    Optional<String> bootId();

    /** Identity of the time namespace of this process; "none" where the system has no such thing. */
    Optional<String> timeNamespace();

    /**
     * Nanoseconds since the machine started, sleep included, at most {@link #BOOT_STEP_NANOS} behind; empty if not
     * known.
     */
    OptionalLong bootNanos();

    /** Nanoseconds on the clock of System.nanoTime(). */
    long nanoTime();

    /** Milliseconds since 1970 by the wall clock, which may step. */
    long wallMillis();

    /** Inode and change time (not modification time) of a file; empty if the file system has none. */
    Optional<FileFacts> file(Path path) throws IOException;

    /** Type of the file system that holds an existing path, such as ext4. */
    String fileSystemType(Path path) throws IOException;

    /**
     * Returns when the name of that file or directory is on disk: what was made, or renamed to it, is found there again
     * after the power failed. Does nothing where this user may not read the directory that has it, or the file system
     * has no such thing.
     */
    void forceName(Path path) throws IOException;
}
