// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The requests for a name's status that wait until the clients have said who of theirs holds and waits: an idle cached lock has no holder, and of several waiters of one client the manager knows the first.
 * A client that does not answer in time is listed as the manager knows it.
 */
final class StatusQueries {
    /** The longest wait for a client's answer, in nanoseconds. */
    private static final long LIMIT = 1_000_000_000L;

    private final List<StatusQuery> pending = new ArrayList<>(1);
    private long queries;

    /** True if nothing is pending. */
    boolean begin(Peer from, LockMessage.Show show, LockManager manager, Turn turn) {
        long limit = Math.max(0, Math.min(show.limit(), LIMIT));
        StatusQuery inquiry = new StatusQuery(from, show.request(), ++queries, turn.now() + limit);
        for (Peer client : clients(manager)) {
            long token = 0;
            for (HeldGrant grant : manager.grants) {
                token = grant.peer.equals(client) ? grant.token : token;
            }
            if (turn.send(client, new LockMessage.Query(manager.key(), inquiry.query, token)) != 0) {
                inquiry.ask(client);
            }
        }
        pending.add(inquiry);
        return tellComplete(manager, turn);
    }

    private static Set<Peer> clients(LockManager manager) {
        Set<Peer> clients = new LinkedHashSet<>();
        for (HeldGrant grant : manager.grants) {
            clients.add(grant.peer);
        }
        for (WaitQueue.Wait wait : manager.waiters()) {
            if (!wait.request.noWait()) {
                clients.add(wait.peer);
            }
        }
        return clients;
    }

    /** True if nothing is pending any more. */
    boolean answered(Peer from, LockMessage.Use use, LockManager manager, Turn turn) {
        for (StatusQuery inquiry : pending) {
            if (inquiry.query == use.query()) {
                inquiry.answered(from, use);
            }
        }
        return tellComplete(manager, turn);
    }

    boolean due(LockManager manager, Turn turn) {
        for (StatusQuery inquiry : pending) {
            if (turn.now() - inquiry.until >= 0) {
                inquiry.giveUp();
            }
        }
        return tellComplete(manager, turn);
    }

    boolean ended(Peer peer, LockManager manager, Turn turn) {
        pending.removeIf(inquiry -> inquiry.peer.equals(peer));
        for (StatusQuery inquiry : pending) {
            inquiry.ended(peer);
        }
        return tellComplete(manager, turn);
    }

    private boolean tellComplete(LockManager manager, Turn turn) {
        pending.removeIf(inquiry -> {
            boolean complete = inquiry.complete();
            if (complete) {
                tell(inquiry, manager, turn);
            }
            return complete;
        });
        long first = Turn.NEVER;
        for (StatusQuery inquiry : pending) {
            first = first == Turn.NEVER || inquiry.until - first < 0 ? inquiry.until : first;
        }
        manager.armInquiry(first, turn);
        return pending.isEmpty();
    }

    private static void tell(StatusQuery inquiry, LockManager manager, Turn turn) {
        List<Participant> holders = new ArrayList<>(1);
        for (HeldGrant grant : manager.grants) {
            LockMessage.Use use = inquiry.useOf(grant);
            if (use == null) {
                holders.add(grant.party(turn.now()));
            } else if (use.current() != 0) {
                holders.add(new Participant(use.owner(), grant.mode, grant.permits, use.current(), use.nanos()));
            }
        }
        ParticipantList waiting = new ParticipantList();
        waiters(inquiry, manager, turn).forEach(waiting::add);
        List<List<Participant>> parts = waiting.parts();
        for (int i = 0; i < parts.size(); i++) {
            boolean last = i == parts.size() - 1;
            turn.send(
                    inquiry.peer,
                    new LockMessage.Status(
                            manager.key(),
                            inquiry.request,
                            i == 0 ? List.copyOf(holders) : List.of(),
                            parts.get(i),
                            last ? waiting.more() + inquiry.more() : 0,
                            last));
        }
    }

    /** In the order of their calls, as far as durations tell: the order in which they will be served. */
    private static List<Participant> waiters(StatusQuery inquiry, LockManager manager, Turn turn) {
        List<Participant> waiters = new ArrayList<>();
        for (WaitQueue.Wait wait : manager.waiters()) {
            LockMessage.Acquire asked = wait.request;
            if (!asked.noWait() && !inquiry.hasAnswered(wait.peer)) {
                waiters.add(new Participant(asked.owner(), asked.mode(), asked.permits(), 0, turn.now() - wait.since));
            }
        }
        inquiry.waiters(manager.grants, waiters);
        waiters.sort(Comparator.comparingLong(Participant::nanos).reversed());
        return waiters;
    }

    StatusQueries copy() {
        StatusQueries copy = new StatusQueries();
        pending.forEach(inquiry -> copy.pending.add(inquiry.copy()));
        copy.queries = queries;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(queries).put(pending.size());
        for (StatusQuery inquiry : pending) {
            inquiry.encode(out);
        }
    }
}
