// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** The lines of a stream, read by a thread of its own, so that they can be waited for with a limit. */
final class Inbox extends Thread {
    /** Comes last, forever: the stream has ended. No line is like it. */
    static final String CLOSED = "\n";

    private static final int LONGEST_LINE = 8192;

    private final InputStream in;
    private final ArrayDeque<String> lines = new ArrayDeque<>();

    Inbox(InputStream in) {
        super("keyway-supervisor-inbox");
        this.in = in;
        setDaemon(true);
    }

    @Override
    public void run() {
        StringBuilder line = new StringBuilder();
        try {
            for (int c = in.read(); c >= 0 && line.length() < LONGEST_LINE; c = in.read()) {
                if (c == '\n') {
                    add(line.toString());
                    line.setLength(0);
                } else {
                    line.append((char) c);
                }
            }
        } catch (IOException e) {
            // The same as its end: nobody can be heard through it any more.
        }
        add(CLOSED);
    }

    private synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }

    /** The next line; null when there is none until {@code until} (null: no limit) on {@link System#nanoTime()}. */
    synchronized @Nullable String next(@Nullable Long until) throws InterruptedException {
        while (lines.isEmpty()) {
            if (until == null) {
                wait();
                continue;
            }
            long left = until - CommandClock.SYSTEM.nanoTime();
            if (left <= 0) {
                return null;
            }
            CommandClock.SYSTEM.await(this, left);
        }
        String line = lines.element();
        if (!line.equals(CLOSED)) {
            lines.remove();
        }
        return line;
    }
}
