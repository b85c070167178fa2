// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One request for a name's status, and what the clients that were asked have said. */
final class StatusQuery {
    /** What one client says. Nobody speaks for another: its answer is kept under its own session. */
    private static final class Answer {
        /** What is in use there, by token. */
        private final TreeMap<Long, Participant> holders = new TreeMap<>();

        private final List<Participant> waiters = new ArrayList<>();
        private int more;
        private boolean complete;

        private Answer copy() {
            Answer copy = new Answer();
            copy.holders.putAll(holders);
            copy.waiters.addAll(waiters);
            copy.more = more;
            copy.complete = complete;
            return copy;
        }
    }

    final Peer peer;
    final long request;
    final long query;
    final long until;
    /** The highest token of a grant that stood when this was asked. */
    private final long newest;

    private final Map<Peer, Answer> asked = new LinkedHashMap<>();

    StatusQuery(Peer peer, long request, long query, long until, long newest) {
        this.peer = peer;
        this.request = request;
        this.query = query;
        this.until = until;
        this.newest = newest;
    }

    void ask(Peer client) {
        asked.put(client, new Answer());
    }

    void answered(Peer client, LockMessage.Use part) {
        Answer answer = asked.get(client);
        if (answer == null || answer.complete) {
            return;
        }
        part.holders().forEach(holder -> answer.holders.put(holder.token(), holder));
        answer.waiters.addAll(part.waiters());
        answer.more += part.more();
        answer.complete = part.last();
    }

    /** That client says nothing any more. */
    void ended(Peer client) {
        asked.remove(client);
    }

    /** Who has not answered until now is not waited for. */
    void giveUp() {
        asked.values().removeIf(answer -> !answer.complete);
    }

    boolean complete() {
        for (Answer answer : asked.values()) {
            if (!answer.complete) {
                return false;
            }
        }
        return true;
    }

    boolean hasAnswered(Peer client) {
        return asked.containsKey(client);
    }

    /**
     * Whoever has that grant, as its client says if it was asked about it, otherwise as the manager knows; null if it
     * lies idle.
     */
    @Nullable
    Participant holder(HeldGrant grant, long now) {
        Answer answer = asked.get(grant.peer);
        if (answer == null || grant.token > newest) {
            return grant.participant(now);
        }
        Map.Entry<Long, Participant> last = answer.holders.floorEntry(grant.hi);
        if (last == null || last.getKey() < grant.token) {
            return answer.more > 0 ? grant.participant(now) : null;
        }
        Participant use = last.getValue();
        return new Participant(use.owner(), grant.mode, grant.permits, use.token(), use.nanos());
    }

    /**
     * Adds the waiters of all who answered. The first of them are holders now if they were granted the lock since then.
     */
    void waiters(List<HeldGrant> grants, List<Participant> into) {
        asked.forEach((client, answer) -> {
            int grantedSince = 0;
            for (HeldGrant grant : grants) {
                grantedSince += grant.peer.equals(client) && grant.token > newest ? 1 : 0;
            }
            List<Participant> waiters = answer.waiters;
            into.addAll(waiters.subList(Math.min(grantedSince, waiters.size()), waiters.size()));
        });
    }

    /** How many were not listed by their clients. */
    int more() {
        int more = 0;
        for (Answer answer : asked.values()) {
            more += answer.more;
        }
        return more;
    }

    StatusQuery copy() {
        StatusQuery copy = new StatusQuery(peer, request, query, until, newest);
        asked.forEach((client, answer) -> copy.asked.put(client, answer.copy()));
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(peer).put(request).put(query).time(until).put(newest).put(asked.size());
        asked.forEach((client, answer) -> {
            out.put(client).put(answer.complete).put(answer.more);
            out.value(answer.holders).value(answer.waiters);
        });
    }
}
