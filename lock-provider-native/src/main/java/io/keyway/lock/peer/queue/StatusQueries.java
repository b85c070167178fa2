// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
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

    /** Asks all clients that hold or wait. */
    void begin(Peer from, LockMessage.Show show, Observers.Seen seen, Turn turn) {
        Set<Peer> clients = new LinkedHashSet<>();
        long newest = 0;
        for (HeldGrant grant : seen.grants()) {
            clients.add(grant.peer);
            newest = Math.max(newest, grant.token);
        }
        for (WaitQueue.Wait wait : seen.waiters().queued()) {
            if (!wait.request.noWait()) {
                clients.add(wait.peer);
            }
        }
        long limit = Math.max(0, Math.min(show.limit(), LIMIT));
        StatusQuery query = new StatusQuery(from, show.request(), ++queries, turn.now() + limit, newest);
        clients.forEach(client -> {
            if (turn.send(client, new LockMessage.Query(key, query.query)) != 0) {
                query.ask(client);
            }
        });
        pending.add(query);
        tellComplete(seen, turn);
    }

    void answered(Peer from, LockMessage.Use use, Observers.Seen seen, Turn turn) {
        for (StatusQuery query : pending) {
            if (query.query == use.query()) {
                query.answered(from, use);
            }
        }
        tellComplete(seen, turn);
    }

    void due(Observers.Seen seen, Turn turn) {
        for (StatusQuery query : pending) {
            if (turn.now() - query.until >= 0) {
                query.giveUp();
            }
        }
        tellComplete(seen, turn);
    }

    /** That session is over. */
    void ended(Peer peer, Observers.Seen seen, Turn turn) {
        pending.removeIf(query -> query.peer.equals(peer));
        for (StatusQuery query : pending) {
            query.ended(peer);
        }
        tellComplete(seen, turn);
    }

    private void tellComplete(Observers.Seen seen, Turn turn) {
        pending.removeIf(query -> {
            boolean complete = query.complete();
            if (complete) {
                tell(query, seen, turn);
            }
            return complete;
        });
        long first = Turn.NEVER;
        for (StatusQuery query : pending) {
            first = Turn.earlier(first, query.until);
        }
        turn.timer(slot, first);
    }

    private void tell(StatusQuery query, Observers.Seen seen, Turn turn) {
        ParticipantList all = new ParticipantList();
        long out = 0;
        for (HeldGrant grant : seen.grants()) {
            Participant holder = query.holder(grant, turn.now());
            if (holder != null) {
                all.add(holder);
                out += grant.mode == LockMode.PERMITS ? grant.permits : 0;
            }
        }
        inOrder(query, seen, turn).forEach(all::add);
        for (WaitQueue.Wait wait : seen.waiters().yielding()) {
            all.addSoftWriter(wait.participant(turn.now()));
        }
        for (ParticipantList.Part part : all.parts()) {
            turn.send(
                    query.peer,
                    new LockMessage.Status(
                            key,
                            query.request,
                            part.holders(),
                            part.waiters(),
                            part.softWriters(),
                            seen.perResource(),
                            (int) Math.min(out, Integer.MAX_VALUE),
                            part.more() + (part.last() ? query.more() : 0),
                            part.last()));
        }
    }

    /** An upgrade, and then in the order of their calls, as far as durations tell: as they will be served. */
    private static List<Participant> inOrder(StatusQuery query, Observers.Seen seen, Turn turn) {
        List<Participant> upgrades = new ArrayList<>(1);
        List<Participant> all = new ArrayList<>();
        for (WaitQueue.Wait wait : seen.waiters().queued()) {
            LockMessage.Acquire asked = wait.request;
            // A client that has answered told of those in its queue; an upgrade is none of them.
            if (!asked.noWait() && (wait.converts() || !query.hasAnswered(wait.peer))) {
                (wait.converts() ? upgrades : all).add(wait.participant(turn.now()));
            }
        }
        query.waiters(seen.grants(), all);
        all.sort(Comparator.comparingLong(Participant::nanos).reversed());
        upgrades.addAll(all);
        return upgrades;
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
