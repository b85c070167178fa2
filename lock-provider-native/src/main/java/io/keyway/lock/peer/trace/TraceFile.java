// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a {@link TraceLog} to a file ten times a second, so that what a process has seen outlives it: a killed one
 * loses the last tenth of a second. A file that has grown to 8 MiB takes the place of the one before it, whose name
 * ends in {@code .1}: a process leaves 16 MiB at most. What the disk refuses is logged once and ends the file, nothing
 * else.
 */
public final class TraceFile implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TraceFile.class);
    /** How names of such files end. */
    public static final String SUFFIX = ".trace";

    private static final long PAUSE_NANOS = 100_000_000;
    private static final long LARGEST = 8L << 20;
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private final TraceLog log;
    private final Path file;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private long next;
    private volatile boolean closed;
    private volatile boolean broken;

    /**
     * Begins to write a file of that log in that directory, which is made if it is missing.
     *
     * @param name of the process, for the name of the file
     * @throws IOException if the directory cannot be made or written to
     */
    public TraceFile(TraceLog log, Path directory, String name) throws IOException {
        this.log = log;
        Files.createDirectories(directory);
        String plain = name.replaceAll("[^A-Za-z0-9._-]", "_");
        this.file = directory.resolve(plain.substring(0, Math.min(60, plain.length())) + "-"
                + ProcessHandle.current().pid() + "-" + NUMBERS.incrementAndGet() + SUFFIX);
        Files.writeString(file, log.frame(0));
        this.thread = new Thread(this::run, "keyway-trace-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    /** What is brought to the file. */
    public TraceLog log() {
        return log;
    }

    private void run() {
        while (!closed && !broken) {
            LockSupport.parkNanos(this, PAUSE_NANOS);
            write(false);
        }
    }

    /** Writes what is new; at the end also what is open. */
    void write(boolean last) {
        lock.lock();
        try {
            TraceLog.Part part = log.since(next);
            if (broken || (part.next() == next && !last)) {
                return;
            }
            if (next > 0 && Files.size(file) > LARGEST) {
                Files.move(file, file.resolveSibling(file.getFileName() + ".1"), StandardCopyOption.REPLACE_EXISTING);
                append(log.frame(next));
            }
            append(part.text());
            next = part.next();
            if (last) {
                append(log.frame(next));
            }
        } catch (IOException | RuntimeException e) {
            broken = true;
            LOG.warn("the trace {} cannot be written and ends: {}", file, e.toString());
        } finally {
            lock.unlock();
        }
    }

    private void append(String text) throws IOException {
        Files.writeString(file, text, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /** Writes the rest. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            LockSupport.unpark(thread);
            write(true);
        }
    }
}
