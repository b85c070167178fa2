// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Counts the messages of native clients, there and back, by what they write down for {@code keyway trace}. */
final class Messages implements AutoCloseable {
    private final String address;
    private final Path directory;

    Messages(String address) throws IOException {
        this.address = address;
        this.directory = Files.createTempDirectory("keyway-messages");
    }

    /** Whether clients of that URL write down what they send: not inside one JVM. */
    static boolean areCounted(String url) {
        return url.matches("lock:native:(?!mem:).*");
    }

    /** The URL of the clients that are counted. */
    String address() {
        return address + "&trace=" + directory;
    }

    /** Of all clients that were opened at {@link #address} and are closed. */
    long count() throws IOException {
        long sum = 0;
        for (Path file : files()) {
            for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
                sum += of(line.split("\t", -1));
            }
        }
        return sum;
    }

    /** The last part of what names a frame of messages is how many it has. */
    private static long of(String[] words) {
        if (words.length < 5 || !words[2].matches("in|out")) {
            return 0;
        }
        String number = words[4].replaceFirst(".*/", "");
        return number.matches("[0-9]+") ? Long.parseLong(number) : 0;
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
