// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.lamport.LamportView;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * The process of one member, watched: its events get vector clocks, which say what happened before what and know
 * nothing of stamps. Of two requests the one that happened before the other must have the smaller stamp.
 */
final class ClockWatch extends ForwardingMachine {
    /** What oracles do about it. */
    interface Judge {
        void violated(String what);
    }

    /** The vector clocks of all members of one world. */
    static final class Vectors {
        /** A request is judged against so many of the latest. */
        private static final int KEPT = 64;

        /** A request, and how many events its member had had. */
        private record Stamped(int member, long at, long stamp) {}

        private final Judge judge;
        private final long[][] now;
        private final IdentityHashMap<Message, long[]> sent = new IdentityHashMap<>();
        private final List<Stamped> stamped = new ArrayList<>();
        private boolean mute;

        Vectors(int members, Judge judge) {
            this.now = new long[members][members];
            this.judge = judge;
        }

        /** What machines do while this is on, copies do. */
        void mute(boolean on) {
            mute = on;
        }

        /** A member has lost its file and its memory, and with them what only it knew of. */
        void forgot(int member) {
            stamped.removeIf(each -> each.member == member && !isKnown(each));
            for (int other = 0; other < now.length; other++) {
                now[member][other] = other == member ? now[member][other] : 0;
            }
        }

        /** Whether another member has heard of it. */
        private boolean isKnown(Stamped former) {
            for (int other = 0; other < now.length; other++) {
                if (other != former.member && now[other][former.member] >= former.at) {
                    return true;
                }
            }
            return false;
        }

        private void received(int member, Message message) {
            long[] then = sent.get(message);
            for (int i = 0; then != null && i < then.length; i++) {
                now[member][i] = Math.max(now[member][i], then[i]);
            }
            now[member][member]++;
        }

        private void sent(int member, Message message) {
            now[member][member]++;
            sent.put(message, now[member].clone());
        }

        private void stamped(int member, long stamp) {
            now[member][member]++;
            for (Stamped former : stamped) {
                boolean before = now[member][former.member] >= former.at;
                if (before && former.stamp >= stamp) {
                    judge.violated("a request of member " + member + " got the stamp " + stamp
                            + " when it had heard of member " + former.member + "'s stamp " + former.stamp);
                }
            }
            stamped.add(new Stamped(member, now[member][member], stamp));
            if (stamped.size() > KEPT) {
                stamped.remove(0);
            }
        }
    }

    /** The machines of that member, its process watched. */
    static MachineFactory machines(Vectors vectors, int member, MachineFactory machines) {
        return key -> key.equals(LamportView.process())
                ? new ClockWatch(vectors, member, machines.create(key))
                : machines.create(key);
    }

    private final Vectors vectors;
    private final int member;
    private final Machine process;
    private final WatchedTurn turn;
    /** The stamps that were made in this life; what is said of them again is no new request. */
    private final Set<Long> known = new HashSet<>();

    private ClockWatch(Vectors vectors, int member, Machine process) {
        super(process);
        this.vectors = vectors;
        this.member = member;
        this.process = process;
        this.turn = new WatchedTurn(this::transmitted);
    }

    /** The process that this one watches. */
    Machine process() {
        return process;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (!vectors.mute) {
            vectors.received(member, message);
        }
        super.received(from, message, this.turn.of(turn));
        known.addAll(LamportView.requests(process));
    }

    @Override
    public void called(Call call, Turn turn) {
        super.called(call, this.turn.of(turn));
        known.addAll(LamportView.requests(process));
    }

    @Override
    public void due(int slot, Turn turn) {
        super.due(slot, this.turn.of(turn));
    }

    @Override
    public void forced(long ticket, Turn turn) {
        super.forced(ticket, this.turn.of(turn));
    }

    private void transmitted(Message message) {
        if (!vectors.mute) {
            long stamp = LamportView.requested(message);
            if (stamp != 0 && known.add(stamp)) {
                vectors.stamped(member, stamp);
            }
            vectors.sent(member, message);
        }
    }

    @Override
    public void dropped(Turn turn) {
        super.dropped(this.turn.of(turn));
    }
}
