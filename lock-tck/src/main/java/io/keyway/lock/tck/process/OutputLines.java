// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The lines that a process prints on one stream, read by a thread of its own so that the process never blocks on a full
 * pipe.
 */
final class OutputLines {
    private final String name;
    private final List<String> lines = new ArrayList<>();
    private final Thread reader;
    private boolean ended;
    private int next;

    OutputLines(InputStream in, String name) {
        this.name = name;
        this.reader = new Thread(() -> read(in), name);
        reader.setDaemon(true);
        reader.start();
    }

    private void read(InputStream in) {
        try (BufferedReader text = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = text.readLine(); line != null; line = text.readLine()) {
                add(line);
            }
        } catch (IOException e) {
            add("cannot read: " + e);
        }
        end();
    }

    private synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** Returns the first of all lines that is like this, waited for. */
    synchronized String first(Predicate<String> like, String what, Duration limit) throws InterruptedException {
        return lines.get(find(0, like, what, limit));
    }

    /** Returns the first line that is like this after the one that was returned last; those between are skipped. */
    synchronized String next(Predicate<String> like, String what, Duration limit) throws InterruptedException {
        int found = find(next, like, what, limit);
        next = found + 1;
        return lines.get(found);
    }

    private synchronized int find(int from, Predicate<String> like, String what, Duration limit)
            throws InterruptedException {
        long start = System.nanoTime();
        int looked = from;
        while (true) {
            for (; looked < lines.size(); looked++) {
                if (like.test(lines.get(looked))) {
                    return looked;
                }
            }
            long left = Patience.of(limit).toNanos() - (System.nanoTime() - start);
            if (ended || left <= 0) {
                throw new AssertionError(
                        name + (ended ? " ended without " : " did not print within " + Patience.of(limit) + " ") + what
                                + "; it printed: " + lines);
            }
            wait(left / 1_000_000 + 1);
        }
    }

    /** Waits for the end of the stream; false if somebody still holds it open. */
    boolean awaitEnd(Duration limit) throws InterruptedException {
        reader.join(limit.toMillis());
        return !reader.isAlive();
    }

    synchronized String text() {
        return String.join("\n", lines);
    }
}
