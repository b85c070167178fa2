// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Reads small files by streams: the channels behind java.nio.file.Files fail in an interrupted thread. */
public final class SmallFiles {
    private static final int LIMIT = 1 << 20;

    private SmallFiles() {}

    /** Returns the lines of a file, of its first megabyte. */
    public static List<String> of(Path path) throws IOException {
        try (InputStream in = new FileInputStream(path.toFile())) {
            return new String(in.readNBytes(LIMIT), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
    }
}
