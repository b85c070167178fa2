// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Goal;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionSettings;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One process with its cell: a member (number 0) or a client. The cell's driver. */
final class SimNode implements Driver {
    private static final Input TICK = new Input.Tick();
    private static final long NO_TICK = Long.MAX_VALUE;

    private final SimWorld world;
    private final int index;
    private final long drift;
    private final SimClock clock;
    private final ArrayDeque<Event> inbox = new ArrayDeque<>();
    private final List<SimLink> links = new ArrayList<>();
    private Draws draws;
    private @Nullable Cell cell;
    private int incarnation;
    private int links0;
    private long quarantineUntil;
    private boolean paused;
    private boolean closing;
    private long pausedAt;
    private long stalled;
    private boolean dirty;
    private long tickAt = NO_TICK;
    private long tickVersion;
    private long runningSince;
    private @Nullable Input lastInput;
    private long forcedEpoch;
    private @Nullable Object forcedRecord;

    SimNode(SimWorld world, int index) {
        this.world = world;
        this.index = index;
        Options options = world.options();
        Draws own = new Draws(options.seed(), 100 + index);
        long drift = options.drift();
        long start = own.below(1L << 50);
        this.drift = drift == 0 ? 0 : own.chance(500) ? own.between(-drift, drift) : own.one(-drift, drift);
        this.clock = new SimClock(world, start, this.drift);
        this.draws = own;
    }

    boolean isMember() {
        return index == 0;
    }

    int index() {
        return index;
    }

    /** Counts the starts of this process; 0 before the first. */
    int incarnation() {
        return incarnation;
    }

    boolean alive() {
        return cell != null;
    }

    boolean paused() {
        return paused;
    }

    /** What the rate of its clock is off by while no fault meddles with it, in parts per million. */
    long drift() {
        return drift;
    }

    SimClock simClock() {
        return clock;
    }

    /** Local time before which a member that started anew may not grant. */
    long quarantineUntil() {
        return quarantineUntil;
    }

    Cell cell() {
        Cell living = cell;
        if (living == null) {
            throw new IllegalStateException(this + " is down");
        }
        return living;
    }

    List<SimLink> links() {
        return links;
    }

    int nextOrdinal() {
        return links0++;
    }

    /** Nanoseconds that this member was stalled, ever; each of them may put off an expiry. */
    long stalled() {
        return stalled;
    }

    void start() {
        incarnation++;
        draws = new Draws(world.options().seed(), 1000L * incarnation + index);
        paused = false;
        dirty = false;
        tickAt = NO_TICK;
        runningSince = clock();
        long quarantine = incarnation == 1
                ? 0
                : SessionSettings.quarantine(world.options().maxTtl());
        quarantineUntil = clock() + quarantine;
        forcedEpoch++;
        cell = isMember() ? world.model().member(this) : world.model().client(this);
        flush();
    }

    /** Ends in good order. Its users have gone already: they hear nothing of what the end does to their locks. */
    void close() {
        closing = true;
        input(new Input.Closing());
        flush();
        closing = false;
    }

    /** The process is gone: memory, timers, links. */
    void stop() {
        cell = null;
        paused = false;
        while (!inbox.isEmpty()) {
            world.heap().recycle(inbox.removeFirst());
        }
        links.clear();
    }

    void pause() {
        if (alive() && !paused) {
            paused = true;
            pausedAt = clock();
        }
    }

    /** A member learns how late it is before it looks at anything: what waited in its sockets counts as heard in time. */
    void resume() {
        if (!paused) {
            return;
        }
        paused = false;
        runningSince = clock();
        long late = clock() - pausedAt;
        if (isMember() && late > world.options().maxTtl() / 64) {
            stalled += late;
            input(new Input.Stalled(late));
        }
        while (alive() && !paused && !inbox.isEmpty()) {
            Event event = inbox.removeFirst();
            world.handle(this, event);
            world.heap().recycle(event);
        }
        if (alive() && !paused) {
            tickAt = NO_TICK;
            input(TICK);
            flush();
        }
    }

    void later(Event event) {
        inbox.addLast(event);
    }

    void input(Input input) {
        world.counted();
        dirty = true;
        lastInput = input;
        if (world.checksPurity()) {
            world.purity().run(cell(), input, this);
        } else {
            cell().input(input, this);
        }
    }

    /** What the current or last turn is about. */
    @Nullable
    Input lastInput() {
        return lastInput;
    }

    /** Nanoseconds that this process has been running without a pause. */
    long running() {
        return clock() - runningSince;
    }

    boolean dirty() {
        return dirty;
    }

    void flush() {
        dirty = false;
        if (world.checksPurity() && draws.chance(250)) {
            world.purity().run(cell(), null, this);
        } else {
            cell().flush(this);
        }
        arm();
    }

    private void arm() {
        long due = cell().nextDue();
        if (due == Turn.NEVER) {
            return;
        }
        long at = clock.realTime(due);
        long lateness = world.options().lateness();
        if (lateness > 0) {
            at += draws.below(lateness);
        }
        if (at < tickAt) {
            tickAt = at;
            world.heap().push(at, Event.Kind.TICK, this).number = ++tickVersion;
        }
    }

    void tick(long version) {
        if (version != tickVersion || tickAt == NO_TICK) {
            return;
        }
        tickAt = NO_TICK;
        if (cell().nextDue() - clock() <= 0) {
            input(TICK);
        } else if (!dirty) {
            arm();
        }
    }

    void forced(long ticket, Object record) {
        forcedEpoch = Math.max(forcedEpoch, world.model().epoch(record));
        forcedRecord = record;
        input(new Input.Forced(ticket));
    }

    /** What a member that starts takes as its epoch: higher than all that it forced; or not, if its disk was put back. */
    long startEpoch() {
        return forcedEpoch;
    }

    /** What its disk says; null if nothing was forced. */
    @Nullable
    Object forcedRecord() {
        return forcedRecord;
    }

    /** The disk is as it was long ago. */
    void restoreDisk() {
        forcedEpoch = 0;
        forcedRecord = null;
    }

    @Override
    public long clock() {
        return clock.read();
    }

    @Override
    public long random() {
        return draws.next();
    }

    @Override
    public void dial(long link) {
        world.net().dial(this, link);
    }

    @Override
    public void transmit(long link, Frame frame) {
        world.net().transmit(this, link, frame);
    }

    @Override
    public void hangUp(long link) {
        world.net().hangUp(this, link);
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        if (world.diskLatency() > world.options().diskLatency()) {
            world.goals().reached(Fault.Kind.SLOW_DISK);
        }
        world.heap()
                .push(world.now() + world.diskLatency(), Event.Kind.FORCED, this)
                .forced(ticket, record);
    }

    @Override
    public void deliver(Notice notice) {
        if (!closing) {
            world.model().notice(this, notice);
        }
    }

    @Override
    public void reached(Goal goal) {
        world.goals().reached(goal);
    }

    @Override
    public String toString() {
        return isMember() ? "member" : "client" + index;
    }
}
