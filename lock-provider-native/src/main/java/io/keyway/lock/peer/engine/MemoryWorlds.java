// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.peer.MemoryWorld;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.net.CellEars;
import io.keyway.lock.peer.net.LoopbackWorld;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** The worlds of {@code lock:native:mem://} in this class loader: one member each, from its first client to its last. */
public final class MemoryWorlds {
    private static final Duration DELIVERY = Duration.ofSeconds(30);

    /** What a member's cell is made from; differs from start to start. */
    public interface Members {
        /** A member's cell at its start; quarantined for nanoseconds from now, 0 to serve at once. */
        Cell start(long epoch, long now, long quarantine);
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, World> worlds = new HashMap<>();
    /** Never lower than that of an earlier world of this loader, so that tokens of a name rise over the worlds too. */
    private final AtomicLong epochs = new AtomicLong();

    /**
     * Takes a seat in the world of that name, which begins if it is not there.
     *
     * @param quarantine how long a restarted member is silent, in nanoseconds
     * @throws IllegalArgumentException if the world is there with another clock
     */
    public Seat join(
            String name, boolean manual, Members members, long quarantine, Supplier<Cell> client, CellEars ears) {
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
            return new WorldSeat(world, client, ears);
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
        final List<LockEngine.Observer> observers = new CopyOnWriteArrayList<>();
        int clients;

        World(String name, boolean manual, Members members, long quarantine) {
            this.name = name;
            this.loop = new LoopbackWorld(name, manual);
            this.members = members;
            this.quarantine = quarantine;
            loop.member(() -> members.start(epochs.incrementAndGet(), loop.nanoTime(), 0));
        }

        void restart() {
            loop.member(() -> members.start(epochs.incrementAndGet(), loop.nanoTime(), quarantine));
        }

        void advance(Duration time) {
            if (!loop.manual()) {
                throw new IllegalStateException(
                        "the world mem://" + name + " runs on the real clock; open it with clock=manual");
            }
            if (time.isNegative()) {
                throw new IllegalArgumentException("time does not go back: " + time);
            }
            long target = loop.nanoTime() + time.toNanos();
            boolean more = true;
            while (more) {
                more = loop.step(target);
                for (LockEngine.Observer observer : observers) {
                    observer.awaitDelivery(DELIVERY);
                }
            }
            // What listeners asked for at the last moment happens at that moment too.
            loop.step(target);
        }
    }

    private final class WorldSeat implements Seat, MemoryWorld {
        private final World world;
        private final LoopbackWorld.ClientSeat seat;
        private final ConnectionWatch connection = new ConnectionWatch();
        private volatile boolean closed;

        WorldSeat(World world, Supplier<Cell> cell, CellEars ears) {
            this.world = world;
            this.seat = world.loop.client(cell, new CellEars() {
                @Override
                public void heard(Notice notice) {
                    ears.heard(notice);
                }

                @Override
                public void turned(SessionLayer sessions) {
                    connection.turned((ClientView) sessions, server());
                }
            });
        }

        @Override
        public void post(Input input) {
            seat.post(input);
        }

        @Override
        public TimeSource time() {
            return world.loop;
        }

        @Override
        public String server() {
            return "mem://" + world.name;
        }

        @Override
        public void observe(LockEngine.Observer observer) {
            connection.add(observer);
            world.observers.add(observer);
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
            world.observers.removeAll(connection.observers());
            seat.post(new Input.Closing());
            seat.leave();
            leave(world);
        }

        @Override
        public void advance(Duration time) {
            world.advance(time);
        }

        @Override
        public void cut(boolean cut) {
            seat.cut(cut);
        }

        @Override
        public void dropReplies(int count) {
            seat.dropReplies(count);
        }

        @Override
        public void restart() {
            world.restart();
        }
    }
}
