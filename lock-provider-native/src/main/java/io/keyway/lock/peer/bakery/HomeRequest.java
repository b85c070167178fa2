// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.home.HomeCall;
import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.Participant;
import java.util.Set;
import java.util.TreeSet;

/** What one client of a member wants of a lock, as the home of that member knows it; {@link BakeryHome} changes it. */
final class HomeRequest {
    enum Phase {
        UNASKED,
        ENTERING,
        TICKETED,
        HOLDING,
        LOST
    }

    /** The number that a manager gave to a request. */
    record Ask(String name, long number) implements Comparable<Ask> {
        @Override
        public int compareTo(Ask other) {
            int by = name.compareTo(other.name);
            return by != 0 ? by : Long.compare(number, other.number);
        }
    }

    final HomeCall.Want want;
    Phase phase = Phase.UNASKED;
    /** What leaders know it by; 0 before it was asked. */
    long number;

    long askedAt;
    long ticket;
    /** The number of its home when it got its ticket. */
    int process;
    /** The highest ticket that it was told of. */
    long best;

    final Set<String> entered = new TreeSet<>();
    /** Those that have it active, as far as was said. */
    final Set<String> active = new TreeSet<>();
    /** Those that have said that others are before it. */
    final Set<String> behind = new TreeSet<>();

    final Set<String> refused = new TreeSet<>();
    /** When it was granted; {@link Turn#NEVER} before. For administrators alone. */
    long grantedAt = Turn.NEVER;
    /** When those leaders are told that it holds which have not let it in; NEVER if they were. */
    long tellAt = Turn.NEVER;
    /** When its client, which was told of the loss, does not believe any more; NEVER before. */
    long over = Turn.NEVER;

    HomeRequest(HomeCall.Want want) {
        this.want = want;
    }

    RequestMode mode() {
        return RequestMode.of(want.mode(), want.quiet());
    }

    Participant participant(long token, long now) {
        return new Participant(want.owner(), want.mode(), 1, token, age(now));
    }

    /** For how long it has held, or waited. */
    long age(long now) {
        return Math.max(0, now - (grantedAt == Turn.NEVER ? want.since() : grantedAt));
    }

    Ask ask() {
        return new Ask(want.name(), want.number());
    }

    long token() {
        return new Ticket(ticket, process).token();
    }

    /** It has no ticket any more. */
    void startOver() {
        entered.clear();
        active.clear();
        behind.clear();
        refused.clear();
        best = 0;
        ticket = 0;
        process = 0;
        grantedAt = Turn.NEVER;
    }

    void forget(String leader) {
        entered.remove(leader);
        active.remove(leader);
        behind.remove(leader);
        refused.remove(leader);
    }

    HomeRequest copy() {
        HomeRequest copy = new HomeRequest(want);
        copy.phase = phase;
        copy.number = number;
        copy.askedAt = askedAt;
        copy.ticket = ticket;
        copy.process = process;
        copy.best = best;
        copy.entered.addAll(entered);
        copy.active.addAll(active);
        copy.behind.addAll(behind);
        copy.refused.addAll(refused);
        copy.grantedAt = grantedAt;
        copy.tellAt = tellAt;
        copy.over = over;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(want.name()).put(want.number()).value(want.owner()).put(want.answerAtOnce());
        out.put(want.wantPlace()).time(want.since()).value(want.mode()).put(want.quiet());
        out.value(phase).put(number).time(askedAt).put(ticket).put(process).put(best);
        out.value(entered)
                .value(active)
                .value(behind)
                .value(refused)
                .time(tellAt)
                .time(over);
    }
}
