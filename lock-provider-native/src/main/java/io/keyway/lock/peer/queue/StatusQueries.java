// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The requests for a name's status that wait until the clients have said who of theirs holds and waits: an idle cached
 * lock has no holder, and of several waiters of one client the manager may know the first only. A client that does not
 * answer in time is listed as the manager knows it.
 */
final class StatusQueries {
    /** The longest wait for a client's answer, in nanoseconds. */
    private static final long LIMIT = 1_000_000_000L;

    private final Key key;
    private final int slot;
    private final List<StatusQuery> pending = new ArrayList<>(1);
    private long queries;

    /** {@code slot}: of the manager's timers. */
    StatusQueries(Key key, int slot) {
        this.key = key;
        this.slot = slot;
    }

    boolean isEmpty() {
        return pending.isEmpty();
    }

    /** Asks all clients that hold or wait; of several grants of one client it names the last one. */
    void begin(Peer from, LockMessage.Show show, List<HeldGrant> grants, Iterable<WaitQueue.Wait> waiters, Turn turn) {
        Map<Peer, Long> clients = new LinkedHashMap<>();
        long newest = 0;
        for (HeldGrant grant : grants) {
            clients.put(grant.peer, grant.token);
            newest = Math.max(newest, grant.token);
        }
        for (WaitQueue.Wait wait : waiters) {
            if (!wait.request.noWait()) {
                clients.putIfAbsent(wait.peer, 0L);
            }
        }
        long limit = Math.max(0, Math.min(show.limit(), LIMIT));
        StatusQuery query = new StatusQuery(from, show.request(), ++queries, turn.now() + limit, newest);
        clients.forEach((client, token) -> {
            if (turn.send(client, new LockMessage.Query(key, query.query, token)) != 0) {
                query.ask(client);
            }
        });
        pending.add(query);
        tellComplete(grants, waiters, turn);
    }

    void answered(Peer from, LockMessage.Use use, List<HeldGrant> grants, Iterable<WaitQueue.Wait> waiters, Turn turn) {
        for (StatusQuery query : pending) {
            if (query.query == use.query()) {
                query.answered(from, use);
            }
        }
        tellComplete(grants, waiters, turn);
    }

    void due(List<HeldGrant> grants, Iterable<WaitQueue.Wait> waiters, Turn turn) {
        for (StatusQuery query : pending) {
            if (turn.now() - query.until >= 0) {
                query.giveUp();
            }
        }
        tellComplete(grants, waiters, turn);
    }

    /** That session is over. */
    void ended(Peer peer, List<HeldGrant> grants, Iterable<WaitQueue.Wait> waiters, Turn turn) {
        pending.removeIf(query -> query.peer.equals(peer));
        for (StatusQuery query : pending) {
            query.ended(peer);
        }
        tellComplete(grants, waiters, turn);
    }

    private void tellComplete(List<HeldGrant> grants, Iterable<WaitQueue.Wait> waiters, Turn turn) {
        pending.removeIf(query -> {
            boolean complete = query.complete();
            if (complete) {
                tell(query, grants, waiters, turn);
            }
            return complete;
        });
        long first = Turn.NEVER;
        for (StatusQuery query : pending) {
            first = first == Turn.NEVER || query.until - first < 0 ? query.until : first;
        }
        turn.timer(slot, first);
    }

    private void tell(StatusQuery query, List<HeldGrant> grants, Iterable<WaitQueue.Wait> waiters, Turn turn) {
        List<Participant> holders = new ArrayList<>(1);
        for (HeldGrant grant : grants) {
            LockMessage.Use use = query.useOf(grant);
            if (use == null) {
                holders.add(grant.participant(turn.now()));
            } else if (use.current() != 0) {
                holders.add(new Participant(use.owner(), grant.mode, grant.permits, use.current(), use.nanos()));
            }
        }
        ParticipantList waiting = new ParticipantList();
        inOrder(query, grants, waiters, turn).forEach(waiting::add);
        List<List<Participant>> parts = waiting.parts();
        for (int i = 0; i < parts.size(); i++) {
            boolean last = i == parts.size() - 1;
            turn.send(
                    query.peer,
                    new LockMessage.Status(
                            key,
                            query.request,
                            i == 0 ? List.copyOf(holders) : List.of(),
                            parts.get(i),
                            last ? waiting.more() + query.more() : 0,
                            last));
        }
    }

    /** In the order of their calls, as far as durations tell: the order in which they will be served. */
    private static List<Participant> inOrder(
            StatusQuery query, List<HeldGrant> grants, Iterable<WaitQueue.Wait> waiters, Turn turn) {
        List<Participant> all = new ArrayList<>();
        for (WaitQueue.Wait wait : waiters) {
            LockMessage.Acquire asked = wait.request;
            if (!asked.noWait() && !query.hasAnswered(wait.peer)) {
                all.add(new Participant(asked.owner(), asked.mode(), asked.permits(), 0, turn.now() - wait.since));
            }
        }
        query.waiters(grants, all);
        all.sort(Comparator.comparingLong(Participant::nanos).reversed());
        return all;
    }

    StatusQueries copy() {
        StatusQueries copy = new StatusQueries(key, slot);
        pending.forEach(query -> copy.pending.add(query.copy()));
        copy.queries = queries;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(queries).put(pending.size());
        for (StatusQuery query : pending) {
            query.encode(out);
        }
    }
}
