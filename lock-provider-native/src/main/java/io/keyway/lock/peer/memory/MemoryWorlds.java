// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.memory;

import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.peer.engine.ClientCell;
import io.keyway.lock.peer.engine.ClientRuntime;
import io.keyway.lock.peer.engine.ConnectionWatch;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.net.CellListener;
import io.keyway.lock.peer.session.MemberPromise;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The worlds of {@code lock:native:mem://} in this class loader: one member each, from its first client to its last.
 */
public final class MemoryWorlds {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** What a member's cell is made from; differs from start to start. */
    public interface Members {
        /** A member's cell at its start; quarantined for nanoseconds from now, 0 to serve at once. */
        Cell start(long epoch, long now, long quarantine);
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, World> worlds = new HashMap<>();
    /** Never lower than that of an earlier world of this loader, so that tokens of a name rise over the worlds too. */
    private final AtomicLong epochs = new AtomicLong();

    private final Duration patience;

    /** Worlds whose threads wait for ten seconds for somebody to move a clock that a test moves. */
    public MemoryWorlds() {
        this(PATIENCE);
    }

    MemoryWorlds(Duration patience) {
        this.patience = patience;
    }

    /**
     * Opens a client of the world of that name, which begins if it is not there.
     *
     * @param quarantine how long a restarted member is silent, in nanoseconds
     * @throws IllegalArgumentException if the world is there with another clock
     */
    public ClientRuntime join(
            String name,
            boolean manual,
            Members members,
            long quarantine,
            Supplier<Cell> client,
            BiConsumer<Notice, ClientCell> listener) {
        lock.lock();
        try {
            World world = worlds.get(name);
            if (world == null) {
                world = new World(name, manual, members, quarantine);
                worlds.put(name, world);
            } else if (world.loop.manual() != manual) {
                throw new IllegalArgumentException("the world mem://" + name + " is there already, with clock="
                        + (world.loop.manual() ? "manual" : "real") + "; open all its clients with one clock");
            }
            world.clients++;
            return new WorldClient(world, client, listener);
        } finally {
            lock.unlock();
        }
    }

    private void leave(World world) {
        lock.lock();
        try {
            if (--world.clients == 0) {
                worlds.remove(world.name);
                world.loop.close();
            }
        } finally {
            lock.unlock();
        }
    }

    private final class World {
        final String name;
        final LoopbackWorld loop;
        private final Members members;
        private final long quarantine;
        final WorldTime time;
        int clients;

        World(String name, boolean manual, Members members, long quarantine) {
            this.name = name;
            this.loop = new LoopbackWorld(name, manual);
            this.time = new WorldTime(loop, "mem://" + name, patience, quarantine);
            this.members = members;
            this.quarantine = quarantine;
            begin(0);
        }

        void restart() {
            begin(quarantine);
        }

        private void begin(long silent) {
            loop.member(() -> members.start(epochs.incrementAndGet(), loop.nanoTime(), silent), record -> {
                if (record instanceof MemberPromise forced) {
                    epochs.accumulateAndGet(forced.epoch(), Math::max);
                }
            });
        }
    }

    private final class WorldClient implements ClientRuntime, MemoryWorld {
        private final World world;
        private final LoopbackWorld.LoopbackClient cell;
        private final ConnectionWatch connection = new ConnectionWatch();
        private volatile boolean closed;

        WorldClient(World world, Supplier<Cell> cell, BiConsumer<Notice, ClientCell> listener) {
            this.world = world;
            this.cell = world.loop.client(cell, new CellListener() {
                @Override
                public void heard(Notice notice) {
                    listener.accept(notice, WorldClient.this);
                }

                @Override
                public void turned(SessionLayer sessions) {
                    connection.turned((ClientView) sessions, server());
                }
            });
        }

        @Override
        public void post(Input input) {
            cell.post(input);
        }

        @Override
        public void after(long nanos, Runnable task) {
            world.loop.at(world.loop.nanoTime() + nanos, task);
        }

        @Override
        public TimeSource time() {
            return world.time;
        }

        @Override
        public String server() {
            return "mem://" + world.name;
        }

        @Override
        public void observe(LockEngine.Observer observer) {
            connection.add(observer);
            world.time.add(observer);
        }

        @Override
        public <T> Optional<T> unwrap(Class<T> type) {
            return type == MemoryWorld.class ? Optional.of(type.cast(this)) : Optional.empty();
        }

        @Override
        public void close() {
            lock.lock();
            try {
                if (closed) {
                    return;
                }
                closed = true;
            } finally {
                lock.unlock();
            }
            world.time.remove(connection.observers());
            cell.post(new Input.Closing());
            cell.leave();
            leave(world);
        }

        @Override
        public void advance(Duration time) {
            world.time.advance(time);
        }

        @Override
        public void advanceUntil(BooleanSupplier condition, Duration limit) throws InterruptedException {
            world.time.advanceUntil(condition, limit);
        }

        @Override
        public void cut(boolean cut) {
            world.time.touched();
            cell.cut(cut);
        }

        @Override
        public void dropReplies(int count) {
            world.time.touched();
            cell.dropReplies(count);
        }

        @Override
        public void restart() {
            world.time.touched();
            world.restart();
        }
    }
}
