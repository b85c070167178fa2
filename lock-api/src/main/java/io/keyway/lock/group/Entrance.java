// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import java.io.Closeable;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** Where a candidate takes the connections of those who want to follow it. */
final class Entrance implements Closeable {
    private static final Logger LOG = System.getLogger(Entrance.class.getName());
    private static final int BACKLOG = 128;
    /** So many greet at a time: who only connects keeps nobody out for longer than a greeting may take. */
    private static final int MOST_GREETING = 64;
    /** After a connection that could not be taken, in milliseconds: the next one fails as well, as a rule. */
    private static final long AGAIN = 100;

    private final ServerSocket socket;
    private final GroupOptions options;
    private final Greeting greeting;
    private final BiConsumer<Link, Greeting.Hello> told;
    private final Semaphore free = new Semaphore(MOST_GREETING);
    private final CountDownLatch closed = new CountDownLatch(1);

    /** {@code told} is called for each that has proved itself, by a thread that is its own. */
    Entrance(GroupOptions options, Greeting greeting, BiConsumer<Link, Greeting.Hello> told) {
        this.options = options;
        this.greeting = greeting;
        this.told = told;
        boolean open = !options.listen().getAddress().isLoopbackAddress();
        if (open && options.secret().length == 0) {
            throw new IllegalArgumentException("A group that listens at " + options.listen()
                    + ", which is no loopback address, needs a secret: GroupOptions.withSecret.");
        }
        try {
            socket = options.serverSockets()
                    .createServerSocket(
                            options.listen().getPort(),
                            BACKLOG,
                            options.listen().getAddress());
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "The group cannot listen at " + options.listen() + ": " + e.getMessage(), e);
        }
    }

    /** Where others reach it. */
    String address() {
        return GroupAddress.of(options.address(), socket.getInetAddress(), socket.getLocalPort());
    }

    void run(String name) {
        Link.start(name + "-accepts", () -> {
            while (!socket.isClosed()) {
                try {
                    greet(name, socket.accept());
                } catch (IOException | RuntimeException | Error e) {
                    // As of a system that has no more files, or threads: another one is taken all the same.
                    if (!socket.isClosed()) {
                        LOG.log(Level.WARNING, "A connection to " + address() + " was not taken", e);
                        pause();
                    }
                }
            }
        });
    }

    private void pause() {
        try {
            boolean unused = closed.await(AGAIN, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            close(); // nobody does that who wants it to go on
        }
    }

    private void greet(String name, Socket from) throws IOException {
        if (!free.tryAcquire()) {
            from.close();
            return;
        }
        boolean started = false;
        try {
            Link.start(name + "-greets", () -> greet(from));
            started = true;
        } finally {
            if (!started) {
                free.release();
                from.close();
            }
        }
    }

    private void greet(Socket from) {
        try {
            from.setSoTimeout(Greeting.PATIENCE); // TLS reads before it writes
            greet(new Link(from, options.longestMessage()));
        } catch (IOException e) {
            LOG.log(Level.DEBUG, () -> "A connection to " + address() + " has ended at once: " + e);
        } finally {
            free.release();
        }
    }

    private void greet(Link link) {
        try {
            told.accept(link, greeting.hear(link));
        } catch (IOException e) {
            LOG.log(Level.INFO, () -> "A process was refused at " + address() + ": " + e.getMessage());
            refuse(link, String.valueOf(e.getMessage()));
        }
    }

    /** Before its threads run. */
    static void refuse(Link link, String why) {
        try {
            link.write(new Frame(Frame.Kind.REFUSED, 0, Text.bytes(why)));
        } catch (IOException e) {
            // It does not wait for the reason.
        }
        link.close();
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            socket.close();
        } catch (IOException e) {
            // It takes none any more.
        }
    }
}
