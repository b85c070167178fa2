// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads the journal of one process from a file, as far as it has been written; the half line of a process that was
 * killed is left.
 */
public final class JournalReader extends JournalLines {
    private final Path file;
    private long position;

    /** Reads nothing yet; the file may come later. */
    public JournalReader(String worker, Path file) {
        super(worker);
        this.file = file;
    }

    /** Reads what is new. */
    public void poll() throws IOException {
        if (!Files.exists(file)) {
            return;
        }
        try (SeekableByteChannel channel = Files.newByteChannel(file)) {
            ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(channel.size() - position));
            channel.position(position);
            int count = 0;
            while (bytes.hasRemaining() && count >= 0) {
                count = channel.read(bytes);
            }
            int whole = bytes.position();
            while (whole > 0 && bytes.get(whole - 1) != '\n') {
                whole--;
            }
            position += whole;
            new String(bytes.array(), 0, whole, StandardCharsets.UTF_8).lines().forEach(this::read);
        }
    }
}
