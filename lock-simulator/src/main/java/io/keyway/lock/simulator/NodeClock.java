// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.net.SuspendAwareClock;
import org.jspecify.annotations.Nullable;

/** The clocks of one machine, and what the process on it reads: a client's sees by the wall clock that it slept. */
final class NodeClock {
    private static final long WALL = 1_800_000_000_000L;
    private static final long LOOK_EVERY = 100 * Nanos.MILLI;

    private final SimWorld world;
    private final SimClock hardware;
    /** How far the wall clock is ahead of the right time. */
    private long wallAhead;
    /** The wall clock was set back, and the process has not looked since. */
    private boolean unseenStep;

    private @Nullable SuspendAwareClock wakeful;
    private long lookedAt;

    NodeClock(SimWorld world, SimClock hardware) {
        this.world = world;
        this.hardware = hardware;
    }

    /** The monotonic clock of the machine. */
    SimClock hardware() {
        return hardware;
    }

    /** A process starts; if it is wakeful, it counts the time that the machine slept. */
    void start(boolean seesSleeps) {
        wakeful = seesSleeps ? new SuspendAwareClock(hardware::read, this::wallMillis) : null;
        lookedAt = hardware.read();
    }

    /** What the process reads. If the machine sleeps, and nobody can ask, what it would read if it woke up now. */
    long read() {
        SuspendAwareClock guarded = wakeful;
        return guarded == null ? hardware.read() : guarded.nanoTime();
    }

    /** As {@link SimNode#realTime}. */
    long realTime(long reading) {
        return wakeful == null ? hardware.realTime(reading) : hardware.realTime(reading - (read() - hardware.read()));
    }

    /** The wall clock is set so many nanoseconds ahead. */
    void stepWall(long nanos) {
        wallAhead += nanos;
        unseenStep |= nanos < 0;
    }

    /**
     * The machine falls asleep. That a step back of the wall clock and a sleep come together between two looks at the
     * clock is beyond what any client can see.
     */
    void sleeps() {
        if (unseenStep) {
            look();
        }
    }

    /** A batch of turns is over: clients look at the clock then, if they have not for a while. */
    void turned() {
        if (wakeful != null && hardware.read() - lookedAt > LOOK_EVERY) {
            look();
        }
    }

    private void look() {
        if (wakeful != null) {
            wakeful.look();
            lookedAt = hardware.read();
            unseenStep = false;
        }
    }

    private long wallMillis() {
        return (world.now() + wallAhead) / Nanos.MILLI + WALL;
    }
}
