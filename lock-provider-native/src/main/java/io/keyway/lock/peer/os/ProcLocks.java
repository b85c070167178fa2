// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Asks the Linux kernel which byte locks this process has: /proc/self/fdinfo lists, for each descriptor, the locks of
 * this process on its file. FileLock.isValid() does not know when they vanish.
 */
final class ProcLocks {
    static final ProcLocks SELF = new ProcLocks(Path.of("/proc/self/fdinfo"));

    /** Where a lock was seen: the descriptor's name and the kernel's name of the file (device and inode). */
    record Place(String descriptor, String file) {}

    private static final int BLOCK = 4096;

    private final Path descriptors;

    ProcLocks(Path descriptors) {
        this.descriptors = descriptors;
    }

    /**
     * Looks for a lock on this byte at any descriptor; an empty file name stands for any file. Reads one small file per
     * open descriptor.
     */
    Optional<Place> find(long position, String file) {
        try (DirectoryStream<Path> each = Files.newDirectoryStream(descriptors)) {
            for (Path descriptor : each) {
                String name = String.valueOf(descriptor.getFileName());
                Optional<Place> place = at(name, position, file);
                if (place.isPresent()) {
                    return place;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return Optional.empty();
        }
        return Optional.empty();
    }

    /** Looks for a lock on this byte at one descriptor; empty too if there is no such descriptor or no /proc. */
    Optional<Place> at(String descriptor, long position, String file) {
        try (RandomAccessFile open = open(descriptor)) {
            return at(open, position, file).map(name -> new Place(descriptor, name));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /**
     * Opens what the kernel says of a descriptor, to be read again and again, even when no further file can be opened.
     */
    RandomAccessFile open(String descriptor) throws IOException {
        return new RandomAccessFile(descriptors.resolve(descriptor).toFile(), "r");
    }

    /** Looks for a lock on this byte; returns the kernel's name of its file. One thread at a time. */
    static Optional<String> at(RandomAccessFile descriptor, long position, String file) throws IOException {
        descriptor.seek(0); // the kernel answers anew
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        byte[] block = new byte[BLOCK];
        for (int n = descriptor.read(block); n > 0; n = descriptor.read(block)) {
            text.write(block, 0, n);
        }
        return text.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("lock:"))
                .map(line -> line.trim().split("\\s+"))
                .filter(field -> covers(field, position) && (file.isEmpty() || file.equals(field[6])))
                .map(field -> field[6])
                .findFirst();
    }

    /**
     * lock: 1: POSIX ADVISORY WRITE pid major:minor:inode first last; the kernel merges neighbours, so ranges count.
     */
    private static boolean covers(String[] field, long position) {
        if (field.length < 9 || !field[2].equals("POSIX") || !field[4].equals("WRITE")) {
            return false;
        }
        try {
            return Long.parseLong(field[7]) <= position
                    && (field[8].equals("EOF") || position <= Long.parseLong(field[8]));
        } catch (NumberFormatException e) {
            return false;
        }
    }
}
