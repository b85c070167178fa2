// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The terminal of this process as a page: its other screen without a cursor, and keys that come one by one without
 * being shown. All of it is undone by {@link #close}, and when the process ends in any way but SIGKILL. Ctrl-C and kill
 * do what they always do.
 */
final class Terminal implements AutoCloseable {
    /**
     * @param rows at least 1
     * @param columns at least 1
     */
    record Size(int rows, int columns) {
        static final Size USUAL = new Size(24, 80);
    }

    private static final File DEVICE = new File("/dev/tty");
    private static final long PATIENCE_SECONDS = 2;
    private static final String OTHER_SCREEN = "\033[?1049h\033[?25l";
    private static final String FORMER_SCREEN = "\033[?25h\033[?1049l";

    private final PrintStream out;
    private final String settings;
    private final ReentrantLock lock = new ReentrantLock();
    private boolean restored;
    private final Thread atTheEnd = new Thread(this::restore, "keyway-terminal-end");
    private volatile @Nullable Size size;

    private Terminal(PrintStream out, String settings) {
        this.out = out;
        this.settings = settings;
    }

    /**
     * Takes the terminal, if there is one, and stty.
     *
     * @param key told each byte that is typed, on a thread of its own
     * @param resized told when the window has another size, on a thread of its own
     */
    static Optional<Terminal> take(PrintStream out, IntConsumer key, Runnable resized) {
        Optional<String> settings = stty("-g").filter(text -> !text.isEmpty());
        if (settings.isEmpty()) {
            return Optional.empty();
        }
        Terminal terminal = new Terminal(out, settings.get());
        Runtime.getRuntime().addShutdownHook(terminal.atTheEnd);
        // A page that Ctrl-Z stopped would leave the shell without an echo.
        if (stty("-icanon", "-echo", "min", "1", "time", "0", "susp", "undef").isEmpty()) {
            terminal.close();
            return Optional.empty();
        }
        terminal.show(OTHER_SCREEN);
        Thread keys = new Thread(() -> read(key), "keyway-keys");
        keys.setDaemon(true);
        keys.start();
        Signals.whenResized(() -> {
            terminal.size = null;
            resized.run();
        });
        return Optional.of(terminal);
    }

    private static void read(IntConsumer key) {
        try (InputStream in = new FileInputStream(DEVICE)) {
            for (int next = in.read(); next >= 0; next = in.read()) {
                key.accept(next);
            }
        } catch (IOException e) {
            // The terminal has gone, and this process is about to hear of it.
        }
    }

    /** How large it is now. */
    Size size() {
        Size known = size;
        if (known == null) {
            known = stty("size").flatMap(Terminal::parse).orElse(Size.USUAL);
            size = known;
        }
        return known;
    }

    private static Optional<Size> parse(String text) {
        if (!text.matches("[1-9]\\d{0,4} [1-9]\\d{0,4}")) {
            return Optional.empty();
        }
        String[] numbers = text.split(" ", -1);
        return Optional.of(new Size(Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1])));
    }

    /** What it prints; empty if it fails, or is not there. */
    private static Optional<String> stty(String... words) {
        List<String> command = new ArrayList<>(List.of("stty"));
        command.addAll(List.of(words));
        try {
            Process stty = new ProcessBuilder(command)
                    .redirectInput(DEVICE)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String printed = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            boolean good = stty.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) && stty.exitValue() == 0;
            return good ? Optional.of(printed) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /** Writes to the page; nothing once the terminal is as it was, since Ctrl-C may have come in between. */
    void show(String text) {
        lock.lock();
        try {
            if (!restored) {
                out.print(text);
                out.flush();
            }
        } finally {
            lock.unlock();
        }
    }

    private void restore() {
        lock.lock();
        try {
            if (restored) {
                return;
            }
            restored = true;
            out.print(FORMER_SCREEN);
            out.flush();
        } finally {
            lock.unlock();
        }
        boolean interrupted = Thread.interrupted();
        stty(settings);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        restore();
        try {
            Runtime.getRuntime().removeShutdownHook(atTheEnd);
        } catch (IllegalStateException e) {
            // The process ends, and the hook has found it done.
        }
    }
}
