// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The lines that a process prints, read by a thread of its own so that the process never blocks on a full pipe. */
final class LineQueue {
    private static final String END = "\0end";

    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private final List<String> seen = new ArrayList<>();

    LineQueue(InputStream in, String name) {
        Thread reader = new Thread(() -> read(in), name);
        reader.setDaemon(true);
        reader.start();
    }

    private void read(InputStream in) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("cannot read: " + e);
        }
        lines.add(END);
    }

    /** Returns the rest of the first line that starts with this word; lines before it are skipped. */
    String await(String word, Duration limit) throws InterruptedException {
        long start = System.nanoTime();
        while (true) {
            long left = limit.toNanos() - (System.nanoTime() - start);
            String line = lines.poll(Math.max(0, left), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new AssertionError("No line '" + word + "' within " + limit + "; printed: " + seen);
            }
            if (line.equals(END)) {
                lines.add(END);
                throw new AssertionError("The process ended without the line '" + word + "'; printed: " + seen);
            }
            seen.add(line);
            if (line.equals(word) || line.startsWith(word + " ")) {
                return line.substring(word.length()).trim();
            }
        }
    }
}
