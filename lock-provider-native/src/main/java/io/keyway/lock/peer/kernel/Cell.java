// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The unit that every driver runs: an authority (one shard of a member), or a client's side of one. It holds its
 * sessions, its machines and its timers.
 *
 * <p><b>States.</b> A machine is <i>at rest</i>, and then the cell has none of that key, or <i>resident</i>: it is made
 * by the first message, call or timer for its key, and dropped at the end of the turn in which it came to rest. An
 * output leaves at once, or is <i>held</i> until the disk has the records that were forced before it.
 *
 * <p><b>Invariants.</b> One input, the timers that are due before it, and all calls between machines that they cause,
 * are one atomic turn. Nothing crosses cells but frames. Due timers run before the input, so that a client that slept
 * sees the end of its belief before any frame that would extend it; {@link Input.Stalled} alone comes before them.
 * Outputs leave in order. What a cell does follows from its inputs, its clock and its random numbers alone.
 *
 * <p>Not thread-safe. A driver gives one or more inputs and then calls {@link #flush}.
 */
public final class Cell {
    private static final int SLOTS = 8;
    /** At most so many of the machines that were made last are in no order; a power of two. */
    private static final int MOST_YOUNG = 256;

    private static final int FEW = 4;

    /** A machine, and what the cell keeps of it. */
    private static final class Resident {
        final Key key;
        final Machine machine;
        /** By slot; null until the machine sets one. */
        Timers.@Nullable Timer @Nullable [] timers;

        boolean touched;
        /** Its place among the young; -1 once its key is in order. */
        int place;

        Resident(Key key, Machine machine) {
            this.key = key;
            this.machine = machine;
        }
    }

    private sealed interface Output {
        record Transmit(long link, Frame frame) implements Output {}

        record Tell(Notice notice) implements Output {}
    }

    private record Held(long barrier, Output output) {}

    private final MachineFactory algorithm;
    private final SessionLayer sessions;
    private final @Nullable MemberView memberView;
    private final @Nullable ClientView clientView;
    private final Map<Key, Resident> residents = new LinkedHashMap<>();
    /**
     * The keys of all residents that are not young, in order. Most machines are at rest again before they are old, so
     * that an order for those who list them costs others nothing.
     */
    private final TreeSet<Key> inOrder = new TreeSet<>();
    /** The residents that were made last; null where one is at rest. */
    private @Nullable Resident[] young = new @Nullable Resident[FEW];

    private int nextPlace;
    private final Timers timers = new Timers();
    /** When the session layer wants a turn. */
    private long wakeAt = Turn.NEVER;
    /** The calls between machines that are still to be made in this turn, and whom each is for. */
    private final ArrayDeque<Call> calls = new ArrayDeque<>(FEW);

    private final ArrayDeque<Key> called = new ArrayDeque<>(FEW);
    private final ArrayDeque<Held> held = new ArrayDeque<>(0);
    private final TreeMap<Long, Key> forcing = new TreeMap<>();
    private final List<Resident> touched = new ArrayList<>();
    private final CurrentTurn turn = new CurrentTurn();
    private long lastTicket;
    private long barrier;
    private long forcedTicket;
    /** What the frames of a member's cell show. It follows from its machines, and is no part of the encoding. */
    private long shownClock;

    public Cell(MachineFactory algorithm, SessionLayer sessions) {
        this.algorithm = algorithm;
        this.sessions = sessions;
        this.memberView = sessions instanceof MemberView view ? view : null;
        this.clientView = sessions instanceof ClientView view ? view : null;
    }

    /** The number of machines that are not at rest. */
    public int residents() {
        return residents.size();
    }

    /** The machine of that key, for oracles and tests; null if it is at rest. */
    public @Nullable Machine machine(Key key) {
        Resident resident = residents.get(key);
        return resident == null ? null : resident.machine;
    }

    /** The keys of all machines that are not at rest, in their order; between turns. */
    public List<Key> keys() {
        sortYoung();
        return new ArrayList<>(inOrder);
    }

    public SessionLayer sessions() {
        return sessions;
    }

    /** The next time at which {@link Input.Tick} has work to do; {@link Turn#NEVER} if none. */
    public long nextDue() {
        return Turn.earlier(timers.nextDue(), wakeAt);
    }

    public void input(Input input, Driver driver) {
        turn.begin(driver);
        if (input instanceof Input.Stalled stalled) {
            sessions.stalled(stalled.nanos());
        }
        beginSessions();
        runDue();
        handle(input);
        settle();
        turn.end();
    }

    /** Ends a batch of inputs: frames go out, timers of sessions are armed. */
    public void flush(Driver driver) {
        turn.begin(driver);
        beginSessions();
        sessions.flush(turn);
        settle();
        turn.end();
    }

    /** A turn has failed: what it still wanted to call is forgotten. */
    public void abandon() {
        calls.clear();
        called.clear();
    }

    private void beginSessions() {
        turn.current = null;
        sessions.begin(turn);
        runCalls();
        turn.current = null;
    }

    private void handle(Input input) {
        turn.current = null;
        if (input instanceof Input.Arrived arrived) {
            sessions.arrived(arrived.link(), arrived.frame(), turn);
        } else if (input instanceof Input.Command command) {
            turn.call(command.key(), command.call());
        } else if (input instanceof Input.Opened opened) {
            sessions.opened(opened.link(), turn);
        } else if (input instanceof Input.Unfit unfit) {
            sessions.unfit(unfit.link(), unfit.why(), turn);
        } else if (input instanceof Input.Closed closed) {
            sessions.closed(closed.link(), closed.why(), turn);
        } else if (input instanceof Input.Died died) {
            sessions.died(died.session(), turn);
        } else if (input instanceof Input.Reborn reborn) {
            sessions.reborn(reborn.life(), reborn.guard(), reborn.why(), turn);
        } else if (input instanceof Input.Proved) {
            sessions.proved(turn);
        } else if (input instanceof Input.Confirmed confirmed) {
            sessions.confirmed(confirmed, turn);
        } else if (input instanceof Input.EpochTaken taken) {
            sessions.epochTaken(taken.epoch(), turn);
        } else if (input instanceof Input.Forced forced) {
            forced(forced.ticket());
        } else if (input instanceof Input.Dismissed) {
            sessions.dismissed(turn);
        } else if (input instanceof Input.Closing) {
            sessions.closing(turn);
        }
    }

    private void runDue() {
        if (Turn.due(wakeAt, turn.now)) {
            wakeAt = Turn.NEVER; // the sessions have done what was due; their next flush says when there is more
        }
        for (Timers.Timer due = timers.pollDue(turn.now); due != null; due = timers.pollDue(turn.now)) {
            enter(due.key).machine.due(due.slot, turn);
            runCalls();
        }
    }

    private void forced(long ticket) {
        forcedTicket = Math.max(forcedTicket, ticket);
        while (!held.isEmpty() && held.peekFirst().barrier() <= forcedTicket) {
            turn.emit(held.removeFirst().output());
        }
        sessions.forced(ticket, turn);
        while (!forcing.isEmpty() && forcing.firstKey() <= ticket) {
            Map.Entry<Long, Key> first = forcing.pollFirstEntry();
            enter(first.getValue()).machine.forced(first.getKey(), turn);
        }
    }

    private void runCalls() {
        while (!calls.isEmpty()) {
            Call next = calls.removeFirst();
            enter(called.removeFirst()).machine.called(next, turn);
        }
    }

    private Resident enter(Key key) {
        Resident resident = residents.get(key);
        if (resident == null) {
            resident = new Resident(key, algorithm.create(key));
            add(resident);
        }
        if (!resident.touched) {
            resident.touched = true;
            touched.add(resident);
        }
        turn.current = resident;
        return resident;
    }

    private void add(Resident resident) {
        residents.put(resident.key, resident);
        Resident oldest = young[nextPlace];
        if (oldest != null && young.length < MOST_YOUNG) {
            nextPlace = young.length;
            young = Arrays.copyOf(young, 2 * nextPlace);
        } else if (oldest != null) {
            sort(oldest);
        }
        young[nextPlace] = resident;
        resident.place = nextPlace;
        nextPlace = nextPlace + 1 & young.length - 1;
    }

    private void remove(Resident resident) {
        residents.remove(resident.key);
        if (resident.place < 0) {
            inOrder.remove(resident.key);
        } else {
            young[resident.place] = null;
        }
    }

    private void sort(Resident resident) {
        young[resident.place] = null;
        resident.place = -1;
        inOrder.add(resident.key);
    }

    private void sortYoung() {
        for (Resident resident : young) {
            if (resident != null) {
                sort(resident);
            }
        }
    }

    /** Runs what is left of the turn and drops machines that came to rest. */
    private void settle() {
        runCalls();
        for (int i = 0; i < touched.size(); i++) {
            Resident resident = touched.get(i);
            resident.touched = false;
            if (resident.machine.atRest()) {
                turn.current = resident;
                resident.machine.dropped(turn);
                cancelTimers(resident);
                remove(resident);
            }
        }
        touched.clear();
        turn.current = null;
    }

    private void cancelTimers(Resident resident) {
        Timers.@Nullable Timer[] slots = resident.timers;
        if (slots != null) {
            for (Timers.Timer timer : slots) {
                if (timer != null) {
                    timers.cancel(timer);
                }
            }
        }
    }

    /** An independent cell of equal state. Machines of one cell are copied, not shared. */
    public Cell copy() {
        Cell copy = new Cell(algorithm, sessions.copy());
        for (Resident resident : residents.values()) {
            Machine machine = resident.machine.copy();
            machine.rebind(copy.sessions);
            copy.add(new Resident(resident.key, machine));
        }
        for (Timers.Timer armed : timers.inOrder()) {
            copy.timer(copy.resident(armed.key), armed.slot, armed.at());
        }
        copy.wakeAt = wakeAt;
        copy.held.addAll(held);
        copy.forcing.putAll(forcing);
        copy.lastTicket = lastTicket;
        copy.barrier = barrier;
        copy.forcedTicket = forcedTicket;
        copy.shownClock = shownClock;
        return copy;
    }

    /** Writes the whole state; between turns only. */
    public void encode(StateEncoder out) {
        sessions.encode(out);
        out.put(residents.size());
        for (Map.Entry<Key, Resident> entry : new TreeMap<>(residents).entrySet()) {
            out.put(entry.getKey());
            entry.getValue().machine.encode(out);
        }
        List<Timers.Timer> armed = timers.inOrder();
        out.time(wakeAt).put(armed.size());
        for (Timers.Timer timer : armed) {
            out.put(timer.key).put(timer.slot).time(timer.at());
        }
        out.put(lastTicket - forcedTicket)
                .put(Math.max(0, barrier - forcedTicket))
                .put(held.size());
        for (Held waiting : held) {
            out.put(waiting.barrier() - forcedTicket).value(waiting.output());
        }
    }

    public long fingerprint(long now) {
        StateEncoder canon = new StateEncoder(now);
        encode(canon);
        return canon.fingerprint();
    }

    private void timer(Resident resident, int slot, long at) {
        Timers.@Nullable Timer[] slots = resident.timers;
        if (slots == null) {
            if (at == Turn.NEVER) {
                return;
            }
            slots = new Timers.@Nullable Timer[SLOTS];
            resident.timers = slots;
        }
        Timers.Timer timer = slots[slot];
        if (at == Turn.NEVER) {
            if (timer != null) {
                timers.cancel(timer);
            }
            return;
        }
        if (timer == null) {
            timer = new Timers.Timer(resident.key, slot);
            slots[slot] = timer;
        }
        timers.arm(timer, at);
    }

    private Resident resident(Key key) {
        Resident resident = residents.get(key);
        if (resident == null) {
            throw new IllegalStateException("no machine " + key);
        }
        return resident;
    }

    private final class CurrentTurn implements SessionLayer.SessionTurn {
        private @Nullable Driver driver;
        private @Nullable Resident current;
        private long now;
        private long frameClock;

        void begin(Driver of) {
            driver = of;
            frameClock = 0;
            now = of.clock();
        }

        void end() {
            driver = null;
        }

        private Driver driver() {
            Driver of = driver;
            if (of == null) {
                throw new IllegalStateException("this turn is over");
            }
            return of;
        }

        void emit(Output output) {
            if (output instanceof Output.Transmit transmit) {
                driver().transmit(transmit.link(), transmit.frame());
            } else if (output instanceof Output.Tell tell) {
                driver().deliver(tell.notice());
            }
        }

        private boolean waitsForDisk() {
            return forcedTicket < barrier;
        }

        @Override
        public long now() {
            return now;
        }

        @Override
        public long send(Peer to, Message message) {
            return sessions.send(to, message);
        }

        @Override
        public void call(Key to, Call call) {
            calls.addLast(call);
            called.addLast(to);
        }

        @Override
        public void timer(int slot, long at) {
            Resident machine = current;
            if (machine == null) {
                throw new IllegalStateException("only machines have timers; the session layer is woken");
            }
            Cell.this.timer(machine, slot, at);
        }

        @Override
        public void wake(long at) {
            wakeAt = at;
        }

        @Override
        public List<Key> residents(Key from, boolean inclusive, int most) {
            sortYoung();
            List<Key> some = new ArrayList<>();
            for (Key key : inOrder.tailSet(from, inclusive)) {
                if (some.size() == most) {
                    break;
                }
                if (!resident(key).machine.atRest()) {
                    some.add(key);
                }
            }
            return some;
        }

        @Override
        public long force(DurableRecord record) {
            long ticket = persist(record);
            if (current != null) {
                forcing.put(ticket, current.key);
            }
            awaitForced(ticket);
            return ticket;
        }

        @Override
        public long persist(DurableRecord record) {
            long ticket = ++lastTicket;
            driver().persist(record, ticket);
            return ticket;
        }

        @Override
        public void awaitForced(long ticket) {
            barrier = Math.max(barrier, ticket);
        }

        @Override
        public void tell(Notice notice) {
            if (waitsForDisk()) {
                held.addLast(new Held(barrier, new Output.Tell(notice)));
            } else {
                driver().deliver(notice);
            }
        }

        @Override
        public void goal(CoverageGoal goal) {
            driver().reached(goal);
        }

        @Override
        public long draw(int bits) {
            return driver().random() >>> (64 - bits);
        }

        @Override
        public MemberView member() {
            if (memberView != null) {
                return memberView;
            }
            throw new IllegalStateException("a client's cell has no member side");
        }

        @Override
        public PeerView peers() {
            return member().peers();
        }

        @Override
        public ClientView client() {
            if (clientView != null) {
                return clientView;
            }
            throw new IllegalStateException("a member's cell has no client side");
        }

        @Override
        public void dial(long link) {
            driver().dial(link);
        }

        @Override
        public void transmit(long link, Frame frame) {
            if (waitsForDisk()) {
                held.addLast(new Held(barrier, new Output.Transmit(link, frame)));
            } else {
                driver().transmit(link, frame);
            }
        }

        @Override
        public String origin(long link) {
            return driver().origin(link);
        }

        @Override
        public void hangUp(long link) {
            driver().hangUp(link);
        }

        @Override
        public long frameClock() {
            return frameClock;
        }

        @Override
        public void showClock(long logicalClock) {
            shownClock = logicalClock;
        }

        @Override
        public void atHand(long clock) {
            frameClock = clock;
        }

        @Override
        public void heardClock(long logicalClock) {
            if (logicalClock != 0 && clientView != null) {
                driver().heardClock(logicalClock);
            }
        }

        @Override
        public long shownClock() {
            return clientView == null ? shownClock : driver().logicalClock();
        }

        @Override
        public void accept(Peer from, Message message) {
            enter(message.key()).machine.received(from, message, this);
            runCalls();
            current = null;
        }
    }
}
