// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.List;

/**
 * The requests for a name's status that wait until its holders have said whether the lock is in use: an idle cached lock has no holder. A holder that does not answer in time is listed as the manager
 * knows it.
 */
final class Inquiries {
    /** The longest wait for a holder's answer, in nanoseconds. */
    private static final long LIMIT = 1_000_000_000L;

    /** The most characters of waiters in one answer, so that it fits into a frame. */
    private static final int MAX_CHARACTERS = 12_000;

    private record Inquiry(Peer peer, long request, long query, long until) {}

    private final List<Inquiry> pending = new ArrayList<>(1);
    private long queries;

    /** True if nothing is pending. */
    boolean begin(Peer from, LeaseMessage.Show show, LockManager manager, Turn turn) {
        long query = ++queries;
        boolean asked = false;
        for (HeldGrant grant : manager.grants) {
            asked |= grant.hi > grant.token
                    && turn.send(grant.peer, new LeaseMessage.Query(manager.key(), query, grant.token)) != 0;
        }
        if (asked) {
            long limit = Math.max(0, Math.min(show.limit(), LIMIT));
            pending.add(new Inquiry(from, show.request(), query, turn.now() + limit));
            arm(manager, turn);
        } else {
            answer(from, show.request(), null, manager, turn);
        }
        return pending.isEmpty();
    }

    /** True if nothing is pending any more. */
    boolean answered(LeaseMessage.Use use, LockManager manager, Turn turn) {
        pending.removeIf(inquiry -> {
            boolean its = inquiry.query() == use.query();
            if (its) {
                answer(inquiry.peer(), inquiry.request(), use, manager, turn);
            }
            return its;
        });
        arm(manager, turn);
        return pending.isEmpty();
    }

    boolean due(LockManager manager, Turn turn) {
        pending.removeIf(inquiry -> {
            boolean late = turn.now() - inquiry.until() >= 0;
            if (late) {
                answer(inquiry.peer(), inquiry.request(), null, manager, turn);
            }
            return late;
        });
        arm(manager, turn);
        return pending.isEmpty();
    }

    boolean ended(Peer peer, LockManager manager, Turn turn) {
        pending.removeIf(inquiry -> inquiry.peer().equals(peer));
        arm(manager, turn);
        return pending.isEmpty();
    }

    private void arm(LockManager manager, Turn turn) {
        long first = Turn.NEVER;
        for (Inquiry inquiry : pending) {
            first = first == Turn.NEVER || inquiry.until() - first < 0 ? inquiry.until() : first;
        }
        manager.armInquiry(first, turn);
    }

    private static void answer(
            Peer to,
            long request,
            LeaseMessage.@org.jspecify.annotations.Nullable Use use,
            LockManager manager,
            Turn turn) {
        List<Party> holders = new ArrayList<>(1);
        for (HeldGrant grant : manager.grants) {
            if (use == null || use.token() != grant.token) {
                holders.add(grant.party(turn.now()));
            } else if (use.current() != 0) {
                holders.add(new Party(use.owner(), grant.mode, grant.permits, use.current(), use.nanos()));
            }
        }
        List<Party> waiters = new ArrayList<>();
        int more = 0;
        int characters = 0;
        for (WaitQueue.Wait wait : manager.waiters()) {
            if (wait.request.noWait()) {
                continue;
            }
            characters += 64 + wait.request.owner().toString().length();
            if (characters > MAX_CHARACTERS) {
                more++;
            } else {
                LeaseMessage.Acquire asked = wait.request;
                waiters.add(new Party(asked.owner(), asked.mode(), asked.permits(), 0, turn.now() - wait.since));
            }
        }
        turn.send(
                to, new LeaseMessage.Status(manager.key(), request, List.copyOf(holders), List.copyOf(waiters), more));
    }

    Inquiries copy() {
        Inquiries copy = new Inquiries();
        copy.pending.addAll(pending);
        copy.queries = queries;
        return copy;
    }

    void encode(Canon out) {
        out.put(queries).put(pending.size());
        for (Inquiry inquiry : pending) {
            out.put(inquiry.peer()).put(inquiry.request()).put(inquiry.query()).time(inquiry.until());
        }
    }
}
