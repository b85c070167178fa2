// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.RpcFrame;
import io.keyway.lock.simulator.picture.Run.Bar;
import java.util.ArrayDeque;
import java.util.List;

/**
 * What one process of a world knows: its cell, as it ships, and its clock. It does not change: a turn makes another
 * one.
 */
abstract class Local {
    /** Nothing counts from a time as long past as this. */
    static final long HORIZON = Scope.TTL;

    final Cell cell;
    final long now;
    /** Whether a timer of it should have fired. */
    private boolean due;

    private long print;

    Local(Cell cell, long now) {
        this.cell = cell;
        this.now = now;
    }

    /** Called once, when its turn is over. */
    final Local done() {
        StateEncoder canon = new StateEncoder(now, HORIZON);
        cell.encode(canon);
        encode(canon);
        print = canon.fingerprint();
        long next = cell.nextDue();
        due = Turn.due(next, now);
        look();
        return this;
    }

    final long print() {
        return print;
    }

    final boolean isDue() {
        return due;
    }

    /** The same cell, at another time; or an equal one that may change. */
    abstract Local at(Cell of, long time);

    abstract void encode(StateEncoder out);

    /** The same, but for which of its like it is. */
    abstract void encodeNameless(StateEncoder out);

    /** Notes what is asked for often. */
    abstract void look();

    /** For people. */
    abstract String inWords();

    /** What it believes or has granted; when it does so is left open. */
    abstract List<Bar> bars(int process, String lock);

    abstract void told(Notice notice, Turns.Step step);

    /** That is on its disk from now on. */
    abstract void forced(DurableRecord record);

    /** What its turns do to the world. */
    static final class World implements CallDriver {
        private final Local local;
        private final Turns.Step step;
        private final ArrayDeque<Long> tickets = new ArrayDeque<>(1);

        World(Local local, Turns.Step step) {
            this.local = local;
            this.step = step;
        }

        void input(Input input) {
            local.cell.input(input, this);
            local.cell.flush(this);
            for (Long ticket = tickets.poll(); ticket != null; ticket = tickets.poll()) {
                local.cell.input(new Input.Forced(ticket), this);
                local.cell.flush(this);
            }
        }

        @Override
        public long clock() {
            return local.now;
        }

        @Override
        public void transmit(long link, Frame frame) {
            step.sends(link, (RpcFrame) frame);
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            local.forced(record);
            tickets.add(ticket);
        }

        @Override
        public void deliver(Notice notice) {
            local.told(notice, step);
        }

        @Override
        public long logicalClock() {
            return local instanceof ClientLocal client ? client.heard : 0;
        }

        @Override
        public void heardClock(long logicalClock) {
            if (local instanceof ClientLocal client) {
                client.heard = Math.max(client.heard, logicalClock);
            }
        }

        @Override
        public void reached(CoverageGoal goal) {
            step.reaches(goal);
        }
    }
}
