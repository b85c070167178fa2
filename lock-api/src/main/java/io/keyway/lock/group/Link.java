// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** A connection between two processes of a group: one thread reads, and one writes what was sent meanwhile. */
final class Link implements Closeable {
    /** Whoever lets so much lie does not read any more. */
    private static final int MOST_UNWRITTEN = 4096;

    private final Socket socket;
    private final int longest;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final BlockingQueue<Frame> unwritten = new LinkedBlockingQueue<>(MOST_UNWRITTEN);
    private final AtomicBoolean closed = new AtomicBoolean();

    Link(Socket socket, int longest) throws IOException {
        this.socket = socket;
        this.longest = longest;
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

    /** Each frame that comes is told, and the end of the connection once, by the thread that reads. */
    void run(String name, Consumer<Frame> told, Runnable ended) {
        start(name + "-writes", this::writeAll);
        start(name + "-reads", () -> {
            try {
                while (!closed.get()) {
                    told.accept(Frame.read(in, longest));
                }
            } catch (IOException e) {
                // It is over, whatever was the reason.
            } finally {
                close();
                ended.run();
            }
        });
    }

    static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void writeAll() {
        try {
            while (true) {
                Frame next = unwritten.take();
                if (closed.get()) {
                    return; // it was woken for that alone
                }
                next.write(out);
                if (unwritten.isEmpty()) {
                    out.flush();
                }
            }
        } catch (IOException | InterruptedException e) {
            close();
        }
    }

    /** Never blocks; a connection whose other end does not read is closed. */
    void send(Frame frame) {
        if (!unwritten.offer(frame)) {
            close();
        }
    }

    /** What waits to be written may be lost. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            unwritten.clear();
            send(Frame.of(Frame.Kind.TAKEN, 0)); // wakes the thread that writes
            try {
                socket.close();
            } catch (IOException e) {
                // It is of no use any more.
            }
        }
    }
}
