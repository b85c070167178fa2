// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.InvalidLockUrlException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The worlds of this class loader: one store each, from its first client until its last has gone and nothing is held.
 */
final class Worlds {

    /** Makes the store of a world. */
    @FunctionalInterface
    interface Beginning {
        ReferenceStore store(LongSupplier clock, long tokensAbove);
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, ReferenceWorld> worlds = new HashMap<>();

    /** By world: no token of a new one is lower than those of the world of that name that has ended. */
    private final Map<String, Long> tokensGiven = new HashMap<>();

    /**
     * Takes a seat in the world of that name, which begins if it is not there.
     *
     * @throws InvalidLockUrlException if the world is there with another clock
     */
    ReferenceWorld join(String name, boolean manual, Beginning beginning) {
        lock.lock();
        try {
            ReferenceWorld world = worlds.get(name);
            if (world == null) {
                ManualTime time = manual ? new ManualTime() : null;
                LongSupplier clock = time == null ? System::nanoTime : time::nanoTime;
                world = new ReferenceWorld(
                        name, this, time, beginning.store(clock, tokensGiven.getOrDefault(name, 0L)));
                worlds.put(name, world);
            } else if (world.time().isPresent() != manual) {
                throw new InvalidLockUrlException(name + " is there already, with clock=" + (manual ? "real" : "manual")
                        + "; open all its clients with one clock");
            }
            world.clients++;
            return world;
        } finally {
            lock.unlock();
        }
    }

    /** A client has gone; the world stays while something of it is held. */
    void leave(ReferenceWorld left) {
        lock.lock();
        try {
            left.clients--;
            worlds.values().removeIf(world -> world.clients == 0 && ended(world));
        } finally {
            lock.unlock();
        }
    }

    /** The world ends, and no later one counts on from it. */
    void forget(ReferenceWorld left) {
        lock.lock();
        try {
            worlds.remove(left.name, left);
            tokensGiven.remove(left.name);
        } finally {
            lock.unlock();
        }
    }

    private boolean ended(ReferenceWorld world) {
        boolean ended = world.store().isAtRest();
        if (ended) {
            tokensGiven.merge(world.name, world.store().lastToken(), Math::max);
        }
        return ended;
    }
}
