// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One cell of a process, and its driver. It ends with the process. */
final class SimCell implements Driver {
    private static final Input TICK = new Input.Tick();
    private static final long NO_TICK = Long.MAX_VALUE;

    private final SimWorld world;
    private final SimNode node;
    private final int number;
    private final Cell cell;
    private @Nullable SimNode target;
    private final Draws draws;
    private final List<SimLink> links = new ArrayList<>();
    private final TreeMap<Long, DurableRecord> unforced = new TreeMap<>();
    private int ordinals;
    private boolean alive = true;
    private boolean spare;
    private boolean dirty;
    private long tickAt = NO_TICK;
    private long tickVersion;
    private @Nullable Input lastInput;

    /**
     * @param number tells the cells of a process apart, in all its lives
     * @param target whom it dials; null if nobody, or if the model says it each time
     */
    SimCell(SimWorld world, SimNode node, int number, Cell cell, @Nullable SimNode target) {
        this.world = world;
        this.node = node;
        this.number = number;
        this.cell = cell;
        this.target = target;
        this.draws = new Draws(world.options().seed(), 1_000_000L * number + 1000L * node.incarnation() + node.index());
    }

    SimNode node() {
        return node;
    }

    int number() {
        return number;
    }

    Cell cell() {
        return cell;
    }

    @Nullable
    SimNode target() {
        return target;
    }

    /** It has found whom it looked for, and dials that one from now on. */
    void settled(SimNode found) {
        target = found;
    }

    /** It has found whom another cell talks to already, and ends. */
    void spare() {
        spare = true;
    }

    /** False if it is of no use to anybody: what is said to it and by it counts for nothing. */
    boolean used() {
        return !spare;
    }

    List<SimLink> links() {
        return links;
    }

    int nextOrdinal() {
        return ordinals++;
    }

    boolean alive() {
        return alive;
    }

    /** Its process has ended. */
    void ended() {
        alive = false;
        links.clear();
    }

    void input(Input input) {
        world.counted();
        dirty = true;
        lastInput = input;
        if (world.checksPurity()) {
            world.purity().run(cell, input, this);
        } else {
            cell.input(input, this);
        }
    }

    /** What the current or last turn is about. */
    @Nullable
    Input lastInput() {
        return lastInput;
    }

    boolean dirty() {
        return dirty;
    }

    void flush() {
        dirty = false;
        if (world.checksPurity() && draws.chance(250)) {
            world.purity().run(cell, null, this);
        } else {
            cell.flush(this);
        }
        arm();
    }

    private void arm() {
        long due = cell.nextDue();
        if (due == Turn.NEVER) {
            return;
        }
        long at = node.realTime(due);
        long lateness = world.options().lateness();
        if (lateness > 0) {
            at += draws.below(lateness);
        }
        if (at < tickAt) {
            tickAt = at;
            world.heap().push(at, Event.Kind.TICK, this).number = ++tickVersion;
        }
    }

    /** A timer's event has come. */
    void tick(long version) {
        if (version != tickVersion || tickAt == NO_TICK) {
            return;
        }
        tickAt = NO_TICK;
        long due = cell.nextDue();
        if (due != Turn.NEVER && due - clock() <= 0) {
            input(TICK);
        } else if (!dirty) {
            arm();
        }
    }

    /** The process runs again; timers that came due in the meantime were lost. */
    void tickNow() {
        tickAt = NO_TICK;
        input(TICK);
        flush();
    }

    /** The process runs again, and its timers come when they come. */
    void tickLater() {
        tickAt = NO_TICK;
        flush();
    }

    @Override
    public long clock() {
        return node.clock();
    }

    @Override
    public long random() {
        return draws.next();
    }

    @Override
    public void dial(long link) {
        node.say(this, () -> world.net().dial(this, link));
    }

    @Override
    public void transmit(long link, Frame frame) {
        node.say(this, () -> world.net().transmit(this, link, frame));
    }

    @Override
    public void hangUp(long link) {
        node.say(this, () -> world.net().hangUp(this, link));
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        if (world.diskLatency() > world.options().diskLatency()) {
            world.goals().reached(Fault.Kind.SLOW_DISK);
        }
        unforced.put(ticket, record);
        world.heap()
                .push(world.now() + world.diskLatency(), Event.Kind.FORCED, this)
                .forced(ticket, record);
    }

    /** The record of that ticket is on disk, and with it all before. */
    void forced(long ticket) {
        while (!unforced.isEmpty() && unforced.firstKey() <= ticket) {
            world.model().forced(node, unforced.pollFirstEntry().getValue());
        }
    }

    /** All that was asked for is on disk; what waited for it goes out. */
    void drain() {
        while (!unforced.isEmpty()) {
            long last = unforced.lastKey();
            forced(last);
            input(new Input.Forced(last));
            flush();
        }
    }

    @Override
    public void deliver(Notice notice) {
        if (!node.closing()) {
            world.model().notice(this, notice);
        }
    }

    @Override
    public long logicalClock() {
        return world.model().logicalClock(node);
    }

    @Override
    public void heardClock(long logicalClock) {
        world.model().heardClock(node, logicalClock);
    }

    @Override
    public void reached(CoverageGoal goal) {
        world.goals().reached(goal);
    }

    @Override
    public String toString() {
        return number == 0 ? node.toString() : node + "/" + number;
    }
}
