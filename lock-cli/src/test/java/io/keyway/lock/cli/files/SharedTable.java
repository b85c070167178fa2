// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.files;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.function.Function;

/** Rows in a file that one process at a time reads and writes. */
final class SharedTable {
    private static final Object IN_THIS_JVM = new Object();

    private final Path file;

    SharedTable(Path directory) {
        this.file = directory.resolve("table");
    }

    /** One request; it holds when its token is not zero. */
    static final class Row implements Serializable {
        private static final long serialVersionUID = 1;

        String kind = "";
        String name = "";
        String client = "";
        long id;
        String mode = "";
        int permits;
        int capacity;
        long token;
        long since;
        long end;
        HashMap<String, String> metadata = new HashMap<>();
        String broken = "";

        boolean sameKey(Row other) {
            return kind.equals(other.kind) && name.equals(other.name);
        }
    }

    /** All rows in the order of their arrival, and the highest token. */
    static final class Content implements Serializable {
        private static final long serialVersionUID = 1;

        final ArrayList<Row> rows = new ArrayList<>();
        long token;

        List<Row> of(Row key) {
            return rows.stream().filter(key::sameKey).toList();
        }
    }

    <T> T change(Function<Content, T> change) {
        synchronized (IN_THIS_JVM) {
            // An interrupt would close the channel in the middle of a change.
            boolean interrupted = Thread.interrupted();
            try {
                Files.createDirectories(file.getParent());
                try (FileChannel channel = FileChannel.open(
                                file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                        var locked = channel.lock()) {
                    Content content = read(channel);
                    long now = System.nanoTime();
                    content.rows.removeIf(row -> row.end - now <= 0);
                    T result = change.apply(content);
                    write(channel, content);
                    return result;
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private static Content read(FileChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate((int) channel.size());
        while (buffer.hasRemaining() && channel.read(buffer, buffer.position()) >= 0) {
            // until all is read
        }
        if (buffer.position() == 0) {
            return new Content();
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(buffer.array()))) {
            return (Content) in.readObject();
        } catch (ClassNotFoundException e) {
            throw new IOException(e);
        }
    }

    private static void write(FileChannel channel, Content content) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(content);
        }
        // In this order: a process that ends in between leaves a whole table, and bytes behind it that nobody reads.
        channel.write(ByteBuffer.wrap(bytes.toByteArray()), 0);
        channel.truncate(bytes.size());
    }
}
