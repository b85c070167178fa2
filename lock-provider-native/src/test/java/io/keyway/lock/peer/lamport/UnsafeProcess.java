// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeSet;

/** A process with one repair undone, or none. */
class UnsafeProcess extends LamportProcess {
    private static final int LATE = 7;
    private static final long LATE_NANOS = 20_000_000L;

    /** A message that is overtaken by all that is said before it leaves. */
    private record Late(String member, LamportMessage message) {}

    private final UnsafeLamport variant;
    private final List<Late> late = new ArrayList<>();
    private final Set<String> greeted = new TreeSet<>();

    UnsafeProcess(UnsafeLamport variant) {
        this.variant = variant;
    }

    @Override
    long begin(long safe) {
        return variant == UnsafeLamport.AMNESIA ? 0 : safe;
    }

    @Override
    boolean joins() {
        return variant != UnsafeLamport.AMNESIA;
    }

    @Override
    boolean maySpeak(Turn turn) {
        return variant == UnsafeLamport.SPEAKS_EARLY || super.maySpeak(turn);
    }

    @Override
    long after(long now, long stamp) {
        return variant == UnsafeLamport.CLOCK_NOT_MERGED ? now + 1 : super.after(now, stamp);
    }

    @Override
    long shown(Turn turn) {
        return variant == UnsafeLamport.CLOCK_NOT_MERGED ? 0 : super.shown(turn);
    }

    @Override
    long answers(String member, Other other, int self, Turn turn) {
        if (variant == UnsafeLamport.SUSPICION && turn.peers().suspected(member)) {
            return Long.MAX_VALUE;
        }
        return variant == UnsafeLamport.NO_TIE_BREAK ? other.last : super.answers(member, other, self, turn);
    }

    @Override
    long answeredUpTo(Turn turn) {
        if (variant != UnsafeLamport.MAJORITY) {
            return super.answeredUpTo(turn);
        }
        long most = 0;
        for (Other other : others()) {
            most = Math.max(most, other.last);
        }
        return most;
    }

    @Override
    Entry first(NavigableMap<Ticket, Entry> queue) {
        Entry first = super.first(queue);
        if (variant == UnsafeLamport.NO_TIE_BREAK) {
            for (Entry entry : queue.values()) {
                if (entry.ticket.stamp() == first.ticket.stamp() && entry.own()) {
                    return entry;
                }
            }
        }
        return first;
    }

    @Override
    void transmit(String member, LamportMessage message, Turn turn) {
        if (variant == UnsafeLamport.UNORDERED && message instanceof LamportMessage.Request && turn.draw(1) == 0) {
            late.add(new Late(member, message));
            turn.timer(LATE, turn.now() + LATE_NANOS);
        } else {
            super.transmit(member, message, turn);
        }
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot != LATE) {
            super.due(slot, turn);
            return;
        }
        late.forEach(each -> super.transmit(each.member(), each.message(), turn));
        late.clear();
    }

    @Override
    boolean isNew(long last, long stamp) {
        return variant == UnsafeLamport.UNORDERED || super.isNew(last, stamp);
    }

    @Override
    void greet(String member, Turn turn) {
        boolean once = variant == UnsafeLamport.SAYS_ONCE || variant == UnsafeLamport.AMNESIA;
        if (!once || greeted.add(member)) {
            super.greet(member, turn);
        }
    }

    @Override
    void over(String member, Ticket released, String name, Turn turn) {
        if (variant == UnsafeLamport.RELEASES_ALL) {
            for (Ticket ticket : queue(name)) {
                if (ticket.process() == released.process()) {
                    remove(ticket, name, turn);
                }
            }
        } else {
            super.over(member, released, name, turn);
        }
    }

    @Override
    LamportProcess fresh() {
        return new UnsafeProcess(variant);
    }

    @Override
    public LamportProcess copy() {
        UnsafeProcess copy = (UnsafeProcess) super.copy();
        copy.late.addAll(late);
        copy.greeted.addAll(greeted);
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        super.encode(out);
        out.value(late).value(greeted);
    }
}
