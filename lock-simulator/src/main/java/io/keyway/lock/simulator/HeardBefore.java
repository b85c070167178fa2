// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * R11: whoever asks after its process was told that another of its requests waits, or was granted, gets a later ticket
 * than that one, of whichever locks they are and whichever members were asked. Two clients are one process: they talk
 * to different members.
 */
final class HeardBefore implements LeaseOracle {
    /** So many requests of a process are looked at, the latest ones. */
    private static final int KEPT = 64;

    private static final class Asked {
        final long request;
        final long at;
        /** When the process was told that it waits; 0 before. */
        long waitsAt;
        /** In which life of the member, and in which session. */
        long memberLife;

        long session;
        /** When the process was told that it holds; 0 before. */
        long beganAt;
        /** 0 before it was granted. */
        long token;

        Asked(long request, long at) {
            this.request = request;
            this.at = at;
        }

        /** Whether its ticket was heard of before the other one was asked for. */
        boolean isBefore(Asked other) {
            return (waitsAt != 0 && waitsAt < other.at) || (beganAt != 0 && beganAt < other.at);
        }
    }

    private final List<ArrayDeque<Asked>> processes = new ArrayList<>();
    private final Map<Long, Asked> byRequest = new HashMap<>();
    private long events;

    /** The process that a client is in. */
    static int process(int client) {
        return (client - 1) / 2;
    }

    private ArrayDeque<Asked> of(int client) {
        while (processes.size() <= process(client)) {
            processes.add(new ArrayDeque<>());
        }
        return processes.get(process(client));
    }

    @Override
    public void asked(int client, long request) {
        Asked asked = new Asked(request, ++events);
        byRequest.put(request, asked);
        ArrayDeque<Asked> all = of(client);
        all.addLast(asked);
        if (all.size() > KEPT) {
            byRequest.remove(all.removeFirst().request);
        }
    }

    @Override
    public void waits(long request, long memberLife, long session) {
        Asked asked = byRequest.get(request);
        if (asked != null && (asked.waitsAt == 0 || asked.session != session || asked.memberLife != memberLife)) {
            asked.waitsAt = ++events;
            asked.memberLife = memberLife;
            asked.session = session;
        }
    }

    @Override
    public void granted(Grant grant) {
        Asked asked = byRequest.get(grant.request());
        if (asked == null) {
            return;
        }
        boolean there = asked.session == grant.session() && asked.memberLife == grant.memberLife();
        if (asked.token != 0 || !there) {
            asked.waitsAt = 0; // where it waited is over, or its grant came too late for its client: it was asked anew
        }
        asked.token = grant.token();
        for (Asked other : of(grant.client())) {
            boolean early = other.isBefore(asked) && other.token >= asked.token;
            boolean late = asked.isBefore(other) && asked.token >= other.token;
            boolean wrong = other.token != 0 && (early || late);
            if (wrong) {
                throw new Violation(
                        "R11",
                        grant + " and the grant of request " + other.request + " with token " + other.token
                                + " are not in the order in which their process came to know of them");
            }
        }
    }

    @Override
    public void began(Use use) {
        for (Asked asked : of(use.client)) {
            if (asked.token == use.token && asked.beganAt == 0) {
                asked.beganAt = ++events;
            }
        }
    }
}
