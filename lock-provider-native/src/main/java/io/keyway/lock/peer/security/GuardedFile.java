// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.security;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads small files that others should not see or change, and says in words why one cannot be used. */
final class GuardedFile {
    private static final Logger LOG = LoggerFactory.getLogger(GuardedFile.class);

    private GuardedFile() {}

    /**
     * Reads a file that only its owner should see: everybody's eyes are a warning, everybody's hands an error.
     *
     * @param option where the file was named, for messages
     * @throws IllegalArgumentException if it cannot be used
     */
    static byte[] read(String option, Path file, int max) {
        byte[] bytes = readPublic(option, file, max);
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        if (view == null) {
            return bytes;
        }
        try {
            Set<PosixFilePermission> may = view.readAttributes().permissions();
            if (may.contains(PosixFilePermission.OTHERS_WRITE)) {
                throw new IllegalArgumentException(option + ": every user of this machine can change " + file + " ("
                        + PosixFilePermissions.toString(may) + "); chmod 600 it, and make a new one");
            }
            if (may.contains(PosixFilePermission.OTHERS_READ)) {
                LOG.warn(
                        "{}: every user of this machine can read {} ({}); chmod 600 it",
                        option,
                        file,
                        PosixFilePermissions.toString(may));
            }
        } catch (IOException e) {
            throw unreadable(option, file, e);
        }
        return bytes;
    }

    /** Reads a file that everybody may see. */
    static byte[] readPublic(String option, Path file, int max) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = in.readNBytes(max + 1);
            if (bytes.length > max) {
                throw new IllegalArgumentException(
                        option + ": " + file + " has more than " + max + " bytes; is it the right file?");
            }
            return bytes;
        } catch (NoSuchFileException e) {
            // The name may be a secret that was given in place of a file.
            Path parent = file.toAbsolutePath().getParent();
            throw new IllegalArgumentException(
                    option + ": there is no such file"
                            + (parent == null
                                    ? ""
                                    : " in " + parent + (Files.isDirectory(parent) ? "" : ", which is no directory")),
                    e);
        } catch (IOException e) {
            throw unreadable(option, file, e);
        }
    }

    private static IllegalArgumentException unreadable(String option, Path file, IOException e) {
        return new IllegalArgumentException(option + ": " + file + " cannot be read: " + e, e);
    }
}
