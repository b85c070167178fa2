// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.session.RpcMember;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One fingerprint for all states of a world that differ by nothing but which of several equal clients is which. Clients
 * are equal if they have the same member and the same users.
 *
 * <p>They are put into the order of their own fingerprints, and the sessions that a member knows are named by the
 * places of their clients in it, and by how many sessions ago they were. Where several orders can be, because only the
 * member tells those clients apart, the one counts that gives the least fingerprint. Nothing that a process does may
 * depend on which of two sessions has the lower number; frames name no session.
 */
final class Symmetry {
    private final Scope scope;
    private final Links links;
    private final Turns turns;
    /** For each client, the first one that is equal to it. */
    private final int[] kind;

    private final boolean any;
    /** By process and by how the sessions are named, the place of its fingerprint in {@link #prints}. */
    private final LongTable printed = new LongTable(1 << 12);

    private long[] prints = new long[1 << 12];
    private int known;
    /** By the order of clients and their sessions, a number. */
    private final LongTable namings = new LongTable(1 << 6);

    private final int[] order;
    private final int[] place;
    private final long[] keys;
    /** By client, the number of its latest session. */
    private final int[] latest;

    Symmetry(Scope scope, Links links, Turns turns) {
        this.scope = scope;
        this.links = links;
        this.turns = turns;
        int clients = scope.clients();
        kind = new int[clients];
        order = new int[clients];
        place = new int[clients];
        keys = new long[clients];
        latest = new int[clients];
        for (int client = 0; client < clients; client++) {
            kind[client] = first(scope, client);
        }
        any = isIn(scope);
    }

    /** Whether that world has one member and clients that are equal. */
    static boolean isIn(Scope scope) {
        boolean found = false;
        for (int client = 0; client < scope.clients(); client++) {
            found |= first(scope, client) < client;
        }
        return found && scope.members.size() == 1;
    }

    private static int first(Scope scope, int client) {
        int first = 0;
        while (!scope.asks.get(first).equals(scope.asks.get(client))
                || !scope.memberOf.get(first).equals(scope.memberOf.get(client))) {
            first++;
        }
        return first;
    }

    /** Equal for states that are equal but for the names of clients. */
    long print(int[] state) {
        if (!any) {
            return Explorer.print(state);
        }
        for (int client = 0; client < order.length; client++) {
            latest[client] = state[links.link(client) + Links.SESSION];
            keys[client] = client(state, client);
        }
        sort();
        long hash = member(state, 0);
        for (int client : order) {
            hash = StateEncoder.mix(hash ^ keys[client]);
        }
        for (int at = links.restarts; at < state.length; at++) {
            hash = at == links.dead ? hash : StateEncoder.mix(hash ^ state[at]);
        }
        return hash;
    }

    /** By kind, and those of one kind by what is known of them. */
    private void sort() {
        for (int i = 0; i < order.length; i++) {
            int at = i;
            while (at > 0 && isBefore(i, order[at - 1])) {
                order[at] = order[at - 1];
                at--;
            }
            order[at] = i;
        }
    }

    private boolean isBefore(int client, int other) {
        return kind[client] != kind[other] ? kind[client] < kind[other] : keys[client] < keys[other];
    }

    private long client(int[] state, int client) {
        int link = links.link(client);
        long hash = print(state[links.client(client)], latest[client], client);
        for (int at = link; at < links.link(client + 1); at++) {
            hash = at == link + Links.SESSION ? hash : StateEncoder.mix(hash ^ state[at]);
        }
        return StateEncoder.mix(hash ^ ((state[links.dead] >>> client) & 1));
    }

    /** The least print of the member over all orders, from that place on, of clients of whom the same is known. */
    private long member(int[] state, int from) {
        if (from == order.length) {
            return member(state);
        }
        long least = Long.MAX_VALUE;
        for (int to = from; to < order.length && isAlike(order[from], order[to]); to++) {
            swap(from, to);
            least = Math.min(least, member(state, from + 1));
            swap(from, to);
        }
        return least;
    }

    private boolean isAlike(int client, int other) {
        return kind[client] == kind[other] && keys[client] == keys[other];
    }

    private void swap(int one, int other) {
        int client = order[one];
        order[one] = order[other];
        order[other] = client;
    }

    private long member(int[] state) {
        for (int i = 0; i < order.length; i++) {
            place[order[i]] = i;
        }
        long naming = 0;
        for (int client = 0; client < order.length; client++) {
            naming = naming << 8 | (long) place[client] << 5 | latest[client];
        }
        int number = namings.get(naming + 1);
        if (number < 0) {
            number = Links.SESSIONS + 1 + namings.size(); // smaller ones are those of clients
            namings.put(naming + 1, number);
        }
        return print(state[0], number, -1);
    }

    private long print(int local, int naming, int client) {
        long key = (long) (local + 1) << 24 | naming;
        int at = printed.get(key);
        if (at < 0) {
            at = known++;
            prints = at == prints.length ? Arrays.copyOf(prints, 2 * at) : prints;
            prints[at] = fresh(turns.local(local), client);
            printed.put(key, at);
        }
        return prints[at];
    }

    /** Of its encoding, with other names for sessions; of which session a member writes first says nothing. */
    private long fresh(Local local, int client) {
        StateEncoder canon = new StateEncoder(local.now, Local.HORIZON);
        local.cell.encode(canon);
        local.encodeNameless(canon);
        List<Long> parts = new ArrayList<>();
        long all = 0;
        long part = 0;
        boolean inPart = false;
        for (long word : canon.words()) {
            if (word == RpcMember.PART || word == RpcMember.END_OF_PARTS) {
                parts.add(part);
                part = 0;
                inPart = word == RpcMember.PART;
            } else if (inPart) {
                part = StateEncoder.mix(part ^ named(word, client));
            } else {
                all = StateEncoder.mix(all ^ named(word, client));
            }
        }
        parts.sort(null);
        for (long each : parts) {
            all = StateEncoder.mix(all ^ each);
        }
        return all;
    }

    /** A session is named by how many sessions of its client were later, and by the place of that client. */
    private long named(long word, int client) {
        if (!RpcMember.isSession(word)) {
            return word;
        }
        int of = client >= 0 ? client : MemberLocal.client(scope, word);
        int later = latest[of] - RpcMember.number(word);
        return RpcMember.session(later + (client >= 0 ? 0 : place[of]));
    }
}
