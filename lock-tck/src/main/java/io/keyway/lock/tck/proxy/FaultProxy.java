// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Stands between clients and one TCP server on the loopback address, and breaks their links on command: cuts, one-way
 * cuts, black holes, delays, slow readers, resets, servers that accept and never answer, ports where nobody listens.
 * Needs no privileges and no help of either side; give the clients {@link #address()} instead of the server's.
 *
 * <p>A command is in force when its method returns. All methods may be called from any thread. One thread serves all
 * connections.
 */
public final class FaultProxy implements AutoCloseable {
    private final InetSocketAddress address;
    private final Selector selector;
    private final ByteBuffer incoming = ByteBuffer.allocateDirect(64 * 1024);
    private final Map<Direction, Fault> faults = new EnumMap<>(Direction.class);
    private final List<Link> links = new ArrayList<>();
    private final List<SocketChannel> mute = new ArrayList<>();
    private final Queue<Runnable> commands = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private final long start = System.nanoTime();
    private volatile InetSocketAddress target;
    private Arrivals arrivals = Arrivals.SERVED;
    /** How many more requests are answered before answers are thrown away; negative if all are. */
    private int answersLeft = -1;

    private @Nullable ServerSocketChannel listener;
    private volatile boolean closed;

    private FaultProxy(InetSocketAddress target, InetSocketAddress where) throws IOException {
        this.target = target;
        this.selector = Selector.open();
        try {
            ServerSocketChannel bound = listen(where);
            this.listener = bound;
            this.address = (InetSocketAddress) bound.getLocalAddress();
        } catch (IOException e) {
            selector.close();
            throw e;
        }
        this.thread = new Thread(this::run, "fault-proxy-" + address.getPort());
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Starts a proxy before that server, on a {@linkplain Ports#free free} port of the loopback address. The server
     * need not run yet.
     */
    public static FaultProxy to(InetSocketAddress target) throws IOException {
        return new FaultProxy(target, new InetSocketAddress(InetAddress.getLoopbackAddress(), Ports.free()));
    }

    /** Starts a proxy before that server, which listens there. */
    public static FaultProxy to(InetSocketAddress target, InetSocketAddress where) throws IOException {
        return new FaultProxy(target, where);
    }

    /** Where clients connect to. */
    public InetSocketAddress address() {
        return address;
    }

    /** From now on that direction of all connections, present and future, is treated so. */
    public void set(Direction direction, Fault fault) {
        command(() -> faults.put(direction, fault));
    }

    /** A cut of one direction: nothing moves that way, and nobody is told. */
    public void cut(Direction direction) {
        set(direction, Fault.STALLED);
    }

    /** A black hole: nothing moves either way, new connections are accepted and stay mute, and nobody is told. */
    public void blackHole() {
        command(() -> {
            faults.put(Direction.TO_SERVER, Fault.STALLED);
            faults.put(Direction.TO_CLIENT, Fault.STALLED);
            arrivals = Arrivals.MUTE;
        });
    }

    /**
     * From the request on that comes after so many others, whichever connection they come by, answers are thrown away.
     * What a client sends before it has an answer counts as one request.
     */
    public void discardAfter(int answers) {
        command(() -> answersLeft = answers);
    }

    /**
     * The connections that stand move nothing any more, and nobody is told; new ones are served. Until {@link #heal()}.
     */
    public void strand() {
        command(() -> links.forEach(Link::strand));
    }

    /** Ends all connections by a reset; later ones are treated as {@link #arrivals} says. */
    public void reset() {
        command(() -> endAll(true));
    }

    /** A clear cut: ends all connections by a reset and refuses new ones. */
    public void disconnect() {
        command(() -> {
            endAll(true);
            admit(Arrivals.REFUSED);
        });
    }

    /** From now on new connections lead to that server, as after a change in a name service; present ones stay. */
    public void redirect(InetSocketAddress server) {
        command(() -> target = server);
    }

    /** From now on new connections are treated so; present ones stay. */
    public void arrivals(Arrivals how) {
        command(() -> admit(how));
    }

    /** Ends every fault. What a stalled direction held back arrives; connections that stayed mute end by a reset. */
    public void heal() {
        command(() -> {
            faults.clear();
            answersLeft = -1;
            links.forEach(Link::free);
            endMute();
            admit(Arrivals.SERVED);
        });
    }

    /** Returns how many connections are passed on now. */
    public int connections() {
        int[] count = {0};
        command(() -> count[0] = links.size());
        return count[0];
    }

    /** Ends all connections and the proxy; idempotent. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void command(Runnable change) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        commands.add(() -> {
            try {
                change.run();
                done.complete(null);
            } catch (RuntimeException e) {
                done.completeExceptionally(e);
            }
        });
        selector.wakeup();
        if (closed) {
            throw new IllegalStateException("the proxy before " + target + " is closed");
        }
        try {
            done.join();
        } catch (CompletionException e) {
            throw new IllegalStateException("the proxy before " + target + " could not do this", e.getCause());
        }
    }

    // On the proxy's thread

    private void run() {
        try {
            while (!closed) {
                turn();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            closed = true;
            endAll(true);
            endMute();
            quietly(listener);
            quietly(selector);
            Runnable left = commands.poll();
            while (left != null) {
                left.run();
                left = commands.poll();
            }
        }
    }

    private void turn() throws IOException {
        selector.select(millisLeft());
        selector.selectedKeys().clear();
        Runnable command = commands.poll();
        while (command != null) {
            command.run();
            command = commands.poll();
        }
        accept();
        long now = now();
        for (Iterator<Link> each = links.iterator(); each.hasNext(); ) {
            Link link = each.next();
            boolean lives;
            try {
                lives = link.turn(faults, now);
                if (link.hasAsked() && answersLeft >= 0 && answersLeft-- == 0) {
                    faults.put(Direction.TO_CLIENT, Fault.DISCARDING);
                }
            } catch (CancelledKeyException e) {
                link.close(true);
                lives = false;
            }
            if (!lives) {
                each.remove();
            }
        }
    }

    /** Nanoseconds since the proxy's start. */
    private long now() {
        return System.nanoTime() - start;
    }

    /** Until time alone changes something; 0 forever. */
    private long millisLeft() {
        long now = now();
        long due = Long.MAX_VALUE;
        for (Link link : links) {
            due = Math.min(due, link.due(faults));
        }
        return due == Long.MAX_VALUE ? 0 : Math.max(1, (due - now + 999_999) / 1_000_000);
    }

    private void accept() throws IOException {
        ServerSocketChannel from = listener;
        if (from == null) {
            return;
        }
        for (SocketChannel client = from.accept(); client != null; client = from.accept()) {
            if (arrivals == Arrivals.MUTE) {
                mute.add(client);
            } else {
                try {
                    links.add(new Link(client, target, selector, incoming));
                } catch (IOException e) {
                    client.close();
                }
            }
        }
    }

    private void admit(Arrivals how) {
        arrivals = how;
        try {
            if (how == Arrivals.REFUSED) {
                quietly(listener);
                listener = null;
                // The port is given up when the selector has forgotten the channel.
                selector.selectNow();
            } else if (listener == null) {
                listener = listen(address);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ServerSocketChannel listen(InetSocketAddress where) throws IOException {
        ServerSocketChannel bound = ServerSocketChannel.open();
        try {
            bound.configureBlocking(false);
            bound.bind(where, 1024);
            bound.register(selector, SelectionKey.OP_ACCEPT);
            return bound;
        } catch (IOException e) {
            bound.close();
            throw e;
        }
    }

    private void endAll(boolean reset) {
        links.forEach(link -> link.close(reset));
        links.clear();
    }

    private void endMute() {
        mute.forEach(client -> Link.close(client, true));
        mute.clear();
    }

    private static void quietly(@Nullable AutoCloseable resource) {
        if (resource != null) {
            try {
                resource.close();
            } catch (Exception e) {
                // Nothing is lost by it: both ends see the end of the connection.
            }
        }
    }
}
