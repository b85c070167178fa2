// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/** What providers warn of, told in this command's own style, each once: a log would have it with every client. */
final class Warnings extends OutputStream {
    private static final int LONGEST = 10_000;

    private final Console console;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final Set<String> told = new HashSet<>();

    Warnings(Console console) {
        this.console = console;
    }

    /** A stream for loggers to write to, line by line. */
    PrintStream stream() {
        return new PrintStream(this, true, StandardCharsets.UTF_8);
    }

    @Override
    public synchronized void write(int b) {
        if (b == '\n') {
            String text = line.toString(StandardCharsets.UTF_8).strip();
            line.reset();
            if (!text.isEmpty() && told.add(text)) {
                console.say(text);
            }
        } else if (line.size() < LONGEST) {
            line.write(b);
        }
    }
}
