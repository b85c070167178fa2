// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.TimeSource;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/** The events of a {@link StoreWorld} in their order, and the chances that decide on them. Alarms are events, too. */
final class WorldTime implements TimeSource {

    static final long MS = 1_000_000L;

    private record Event(long at, long order, Runnable action) {}

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::order));
    private final SplittableRandom random;
    private long now;
    private long order;
    private boolean faulty = true;

    WorldTime(SplittableRandom random) {
        this.random = random;
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public Scheduled at(long atNanos, Runnable task) {
        AtomicBoolean cancelled = new AtomicBoolean();
        after(atNanos - now, () -> {
            if (!cancelled.get()) {
                task.run();
            }
        });
        return () -> cancelled.set(true);
    }

    void after(long delay, Runnable action) {
        events.add(new Event(now + Math.max(0, delay), order++, action));
    }

    /** Goes on to the next event; false if there is none. */
    boolean step() {
        Event event = events.poll();
        if (event == null) {
            return false;
        }
        now = event.at;
        event.action.run();
        return true;
    }

    /** Ends the faults. */
    void heal() {
        faulty = false;
    }

    boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    /** The chance of a fault: none once the faults have ended. */
    boolean fault(int percent) {
        return faulty && chance(percent);
    }

    long latency() {
        return (fault(5) ? random.nextLong(1500) : 1 + random.nextLong(10)) * MS;
    }

    /** How long a message that is given up for lost may still be under way. */
    long lateness() {
        return random.nextLong(800) * MS;
    }
}
