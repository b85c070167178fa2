// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * The process of one member, watched: its events get vector clocks, which say what happened before what and know
 * nothing of stamps. Of two requests the one that happened before the other must have the smaller stamp.
 */
public final class ClockWatch extends UnsafeProcess {
    /** What oracles do about it. */
    public interface Judge {
        void violated(String what);
    }

    /** The vector clocks of all members of one world. */
    public static final class Vectors {
        /** A request is judged against so many of the latest. */
        private static final int KEPT = 64;

        /** A request, and how many events its member had had. */
        private record Stamped(int member, long at, Ticket ticket) {}

        private final Judge judge;
        private final long[][] now;
        private final IdentityHashMap<Message, long[]> sent = new IdentityHashMap<>();
        private final List<Stamped> stamped = new ArrayList<>();
        private boolean mute;

        public Vectors(int members, Judge judge) {
            this.now = new long[members][members];
            this.judge = judge;
        }

        /** What machines do while this is on, copies do. */
        public void mute(boolean on) {
            mute = on;
        }

        /** A member has lost its file and its memory, and with them what only it knew of. */
        public void forgot(int member) {
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

        private void stamped(int member, Ticket ticket) {
            now[member][member]++;
            for (Stamped former : stamped) {
                boolean before = now[member][former.member] >= former.at;
                if (before && former.ticket.stamp() >= ticket.stamp()) {
                    judge.violated(ticket + " was made when its member had heard of " + former.ticket);
                }
            }
            stamped.add(new Stamped(member, now[member][member], ticket));
            if (stamped.size() > KEPT) {
                stamped.remove(0);
            }
        }
    }

    /** The machines of that member, its process watched. */
    public static MachineFactory machines(Vectors vectors, int member, UnsafeLamport flaw) {
        MachineFactory regular = new LamportAlgorithm().memberMachines(all -> true);
        return key -> key.equals(LamportKeys.PROCESS) ? new ClockWatch(vectors, member, flaw) : regular.create(key);
    }

    private final Vectors vectors;
    private final int member;
    /** The tickets that were made in this life; what is said of them again is no new request. */
    private final Set<Ticket> known = new HashSet<>();

    private ClockWatch(Vectors vectors, int member, UnsafeLamport flaw) {
        super(flaw);
        this.vectors = vectors;
        this.member = member;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (!vectors.mute) {
            vectors.received(member, message);
        }
        super.received(from, message, turn);
        known.addAll(tickets());
    }

    @Override
    public void called(Call call, Turn turn) {
        super.called(call, turn);
        known.addAll(tickets());
    }

    @Override
    void transmit(String to, LamportMessage message, Turn turn) {
        if (!vectors.mute) {
            if (message instanceof LamportMessage.Request request
                    && known.add(new Ticket(request.stamp(), member + 1))) {
                vectors.stamped(member, new Ticket(request.stamp(), member + 1));
            }
            vectors.sent(member, message);
        }
        super.transmit(to, message, turn);
    }
}
