// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A connection between two processes of a group: one thread reads, and one writes what was sent meanwhile. Each end
 * sends a frame every few seconds, so that the other end notices when a connection carries nothing any more.
 */
final class Link implements Closeable {
    /** Takes what comes. */
    interface Hearer {
        /** A frame has come; {@code done} is to be run when nothing of it is left to do, by any thread. */
        void heard(Frame frame, Runnable done);
    }

    private static final Logger LOG = System.getLogger(Link.class.getName());
    /** The other end does not read when so many bytes, and the longest message beside them, wait for it. */
    private static final long MOST_UNWRITTEN = 64L << 20;
    /** While so many bytes that have come are not done, nothing more is read: the other end keeps what it sends. */
    private static final int MOST_UNDONE = 8 << 20;
    /** An end that has sent nothing for that time, in milliseconds, sends an empty frame. */
    private static final int BEAT = 3_000;
    /** The other end is gone when nothing has come for that time, in milliseconds. */
    private static final int SILENCE = 4 * BEAT;

    private final Socket socket;
    private final int longest;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final BlockingQueue<Frame> unwritten = new LinkedBlockingQueue<>();
    /** How many bytes they are. */
    private final AtomicLong unwrittenBytes = new AtomicLong();

    /** In bytes, for what comes. */
    private final Semaphore room = new Semaphore(MOST_UNDONE);

    private final int beat;
    private final int silence;
    private final AtomicBoolean closed = new AtomicBoolean();

    Link(Socket socket, int longest) throws IOException {
        this(socket, longest, BEAT, SILENCE);
    }

    /** As above, with other times. */
    Link(Socket socket, int longest, int beat, int silence) throws IOException {
        this.socket = socket;
        this.longest = longest;
        this.beat = beat;
        this.silence = silence;
        socket.setTcpNoDelay(true);
        socket.setKeepAlive(true);
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        this.out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    }

    // Before its threads run: by whoever greets.

    /** Reads one frame, no longer than that, within so many milliseconds. */
    Frame read(int most, int millis) throws IOException {
        socket.setSoTimeout(millis);
        Frame frame = Frame.read(in, most);
        socket.setSoTimeout(0);
        return frame;
    }

    void write(Frame frame) throws IOException {
        frame.write(out);
        out.flush();
    }

    // Afterwards.

    /** Each frame that comes is reported, and the end of the connection at least once, by the thread that reads. */
    void run(String name, Hearer hearer, Runnable ended) {
        try {
            start(name + "-writes", this::writeAll);
            start(name + "-reads", () -> readAll(hearer, ended));
        } catch (Error e) { // of a system that has no more threads
            close();
            ended.run();
            throw e;
        }
    }

    private void readAll(Hearer hearer, Runnable ended) {
        try {
            socket.setSoTimeout(silence);
            while (!closed.get()) {
                Frame frame = Frame.read(in, longest);
                if (frame.kind() != Frame.Kind.BEAT) {
                    int size = Math.min(frame.size(), MOST_UNDONE);
                    room.acquireUninterruptibly(size);
                    hearer.heard(frame, () -> room.release(size));
                }
            }
        } catch (SocketTimeoutException e) {
            LOG.log(
                    Level.INFO,
                    () -> "Nothing has come from " + socket.getRemoteSocketAddress() + " for " + silence
                            + " ms; the connection is closed");
        } catch (IOException e) {
            // It is over, whatever was the reason.
        } finally {
            close();
            ended.run();
        }
    }

    static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void writeAll() {
        try {
            while (true) {
                Frame next = unwritten.poll(beat, TimeUnit.MILLISECONDS);
                if (closed.get()) {
                    return; // it was woken for that alone
                }
                if (next == null) {
                    next = Frame.of(Frame.Kind.BEAT, 0);
                } else {
                    unwrittenBytes.addAndGet(-next.size());
                }
                next.write(out);
                if (unwritten.isEmpty()) {
                    out.flush();
                }
            }
        } catch (IOException | InterruptedException e) {
            // It is over, whatever was the reason.
        } finally {
            close();
        }
    }

    /** Never blocks; a connection whose other end does not read is closed. */
    void send(Frame frame) {
        long waiting = unwrittenBytes.addAndGet(frame.size());
        if (waiting <= MOST_UNWRITTEN + longest) {
            unwritten.add(frame);
        } else if (!closed.get()) {
            LOG.log(
                    Level.WARNING,
                    () -> socket.getRemoteSocketAddress() + " does not read what it is sent, and " + waiting
                            + " bytes wait for it; the connection is closed");
            close();
        }
    }

    /** What waits to be written may be lost. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            unwritten.clear();
            unwritten.add(Frame.of(Frame.Kind.BEAT, 0)); // wakes the thread that writes
            room.release(MOST_UNDONE); // and the one that reads
            try {
                socket.close();
            } catch (IOException e) {
                // It is of no use any more.
            }
        }
    }
}
