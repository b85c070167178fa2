// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.session.SessionSettings;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One process with its cells, on a machine of its own: a member (0, -1, -2 ...) or a client (1, 2 ...). */
final class SimNode {
    private static final int NO_STOP = -1;

    private record Unsaid(SimCell cell, Runnable word) {}

    private final SimWorld world;
    private final int index;
    private final long drift;
    private final NodeClock clock;
    private final SimDisk disk = new SimDisk();
    private final ArrayDeque<Event> inbox = new ArrayDeque<>();
    private final List<SimCell> cells = new ArrayList<>();
    /**
     * The cell through which a life of this client talks to a member, where it is not the one with the member's number:
     * by that life and the member.
     */
    private final Map<List<Integer>, Integer> talks = new HashMap<>();

    private boolean alive;
    private int incarnation;
    private long quarantineUntil;
    private boolean paused;
    /** In how many more words of its next step this process stops; {@link #NO_STOP} if it does not. */
    private int stopsIn = NO_STOP;
    /** What it was about to say when it stopped. */
    private final ArrayDeque<Unsaid> unsaid = new ArrayDeque<>();

    private boolean closing;
    private long pausedAt;
    private long stalled;
    private long runningSince;

    SimNode(SimWorld world, int index) {
        this.world = world;
        this.index = index;
        Options options = world.options();
        Draws own = new Draws(options.seed(), 100 + index);
        long bound = options.drift();
        long start = own.below(1L << 50);
        this.drift = bound == 0 ? 0 : own.chance(500) ? own.between(-bound, bound) : own.one(-bound, bound);
        this.clock = new NodeClock(world, new SimClock(world, start, this.drift));
    }

    boolean isMember() {
        return index <= 0;
    }

    /** 0 and less for members, 1 and more for clients. */
    int index() {
        return index;
    }

    /** Counts all nodes of the world from 0. */
    int slot() {
        return world.slot(index);
    }

    /** Counts the starts of this process; 0 before the first. */
    int incarnation() {
        return incarnation;
    }

    boolean alive() {
        return alive;
    }

    boolean paused() {
        return paused;
    }

    /** For how long it is paused, in nanoseconds of its clock; 0 if it is not. */
    long standsStill() {
        return paused ? clock() - pausedAt : 0;
    }

    boolean closing() {
        return closing;
    }

    /** What the rate of its clock is off by while no fault meddles with it, in parts per million. */
    long drift() {
        return drift;
    }

    SimClock simClock() {
        return clock.hardware();
    }

    SimDisk disk() {
        return disk;
    }

    /** What its cells and its users read, as {@link NodeClock#read} says. */
    long clock() {
        return clock.read();
    }

    /** The real time at which its clock will show that time, or a little later; now if that is over. */
    long realTime(long reading) {
        return clock.realTime(reading);
    }

    /** The wall clock of its machine is set to another time, so many nanoseconds ahead. */
    void stepWall(long nanos) {
        clock.stepWall(nanos);
        if (nanos > 0) {
            runningSince = clock(); // to it that is a sleep that is over now
        }
    }

    /** The machine falls asleep. */
    void sleeps() {
        clock.sleeps();
    }

    /** Local time before which a member that started anew, and that remembers nothing, may not grant. */
    long quarantineUntil() {
        return quarantineUntil;
    }

    /** Its cells, in the order in which they were opened. */
    List<SimCell> cells() {
        return cells;
    }

    /** The cell of that number; null if there is none in this life. */
    @Nullable
    SimCell find(int number) {
        for (int i = 0; i < cells.size(); i++) {
            if (cells.get(i).number() == number) {
                return cells.get(i);
            }
        }
        return null;
    }

    /** In this life it talks to that member through the cell of that number. */
    void talksTo(SimNode member, int cell) {
        talks.put(List.of(incarnation, member.slot()), cell);
    }

    /** The number of the cell through which that life of this client talks, or talked, to that member. */
    int cellTo(SimNode member, int life) {
        return talks.getOrDefault(List.of(life, member.slot()), member.slot());
    }

    /** Its first cell: of a member, the one that grants. */
    SimCell main() {
        if (!alive) {
            throw new IllegalStateException(this + " is down");
        }
        return cells.get(0);
    }

    /** The cell that answers those who dial this member; null if it does not listen. */
    @Nullable
    SimCell listening() {
        return find(0);
    }

    /** What its first cell runs. */
    Cell cell() {
        return main().cell();
    }

    /** One more cell of this process. */
    SimCell open(int number, Cell cell, @Nullable SimNode target) {
        SimCell opened = new SimCell(world, this, number, cell, target);
        cells.add(opened);
        return opened;
    }

    /** Nanoseconds that this member was stalled, ever; each of them may put off an expiry. */
    long stalled() {
        return stalled;
    }

    void start() {
        incarnation++;
        alive = true;
        paused = false;
        clock.start(!isMember() && world.model().wakeful());
        runningSince = clock();
        long quarantine = incarnation == 1
                ? 0
                : SessionSettings.quarantine(world.options().maxTtl());
        quarantineUntil = clock() + quarantine;
        world.model().start(this);
        flushAll();
    }

    /** Ends in good order. Its users have gone already: they hear nothing of what the end does to their locks. */
    void close() {
        closing = true;
        for (SimCell cell : cells) {
            cell.input(new Input.Closing());
        }
        flushAll();
        closing = false;
    }

    /** The process is gone: memory, timers, links. */
    void stop() {
        alive = false;
        paused = false;
        stopsIn = NO_STOP;
        unsaid.clear();
        while (!inbox.isEmpty()) {
            world.heap().recycle(inbox.removeFirst());
        }
        cells.forEach(SimCell::ended);
        cells.clear();
    }

    /** It stops in its next step: before anything of that is said, or after so many words. */
    void pauseWithin(int words) {
        if (alive && !paused) {
            stopsIn = words;
        }
    }

    /** A step is done, but for what it says; true if the process stops here. */
    boolean stopsBeforeItSpeaks() {
        if (stopsIn == 0) {
            pause();
        }
        return paused;
    }

    /** A step is done, and what it had to say is said, or held back. */
    void stepDone() {
        if (stopsIn != NO_STOP) {
            pause();
        }
    }

    /** A cell says something, unless its process has stopped on the way. */
    void say(SimCell cell, Runnable word) {
        if (stopsIn == NO_STOP) {
            word.run();
        } else if (stopsIn > 1) {
            stopsIn--;
            word.run();
        } else {
            unsaid.addLast(new Unsaid(cell, word));
        }
    }

    private void sayTheRest() {
        stopsIn = NO_STOP;
        if (!unsaid.isEmpty()) {
            world.goals().reached(WorldGoal.STOPPED_WITHIN_A_STEP);
        }
        while (!unsaid.isEmpty()) {
            Unsaid next = unsaid.removeFirst();
            if (next.cell().alive()) {
                next.word().run();
            }
        }
    }

    void pause() {
        if (alive && !paused) {
            paused = true;
            pausedAt = clock();
        }
    }

    /**
     * What it was about to say is said first. A member learns how late it is before it looks at anything: what waited
     * in its sockets counts as heard in time. It knows the time of its last look, not that of its stop, and it reads
     * what waits in one go or in two.
     */
    void resume() {
        if (!paused) {
            sayTheRest();
            return;
        }
        paused = false;
        sayTheRest();
        runningSince = clock();
        Draws draws = new Draws(world.options().seed() + 18, world.now());
        if (isMember()) {
            addStall(clock() - pausedAt, draws);
        }
        int first = draws.chance(500) ? inbox.size() : draws.below(inbox.size() + 1);
        read(first);
        tick(draws.chance(500));
        read(inbox.size());
        tick(true);
    }

    private void addStall(long stopped, Draws draws) {
        long tolerance = world.options().maxTtl() / 64;
        long between = world.options().maxTtl() / 128;
        long sinceLook = stopped + draws.below(between);
        SimCell granting = find(0);
        if (granting != null && sinceLook - between > tolerance) {
            long told = sinceLook + tolerance;
            stalled += told;
            granting.input(new Input.Stalled(told));
            world.model().stalled(this, told);
        }
    }

    private void read(int events) {
        for (int i = 0; i < events && alive && !paused && !inbox.isEmpty(); i++) {
            Event event = inbox.removeFirst();
            world.handle(this, event);
            world.heap().recycle(event);
        }
    }

    private void tick(boolean now) {
        for (int i = 0; alive && !paused && i < cells.size(); i++) {
            if (now) {
                cells.get(i).tickNow();
            } else {
                cells.get(i).tickLater();
            }
        }
    }

    void later(Event event) {
        inbox.addLast(event);
    }

    /** For its first cell. */
    void input(Input input) {
        main().input(input);
    }

    /** Nanoseconds that this process has been running without a pause or a sleep, on its clock. */
    long running() {
        return clock() - runningSince;
    }

    boolean dirty() {
        for (int i = 0; i < cells.size(); i++) {
            if (cells.get(i).dirty()) {
                return true;
            }
        }
        return false;
    }

    /** All cells that had an input. */
    void flush() {
        clock.turned();
        for (int i = 0; i < cells.size(); i++) {
            if (cells.get(i).dirty()) {
                cells.get(i).flush();
            }
        }
    }

    /** All cells, since their clock or their timers have changed. */
    void flushAll() {
        for (int i = 0; i < cells.size(); i++) {
            cells.get(i).flush();
        }
    }

    @Override
    public String toString() {
        return name(index, world.memberNodes());
    }

    /** What the node of that index is called where there are so many members. */
    static String name(int index, int members) {
        return index > 0 ? "client" + index : members == 1 ? "member" : "member-" + (char) ('a' - index);
    }
}
