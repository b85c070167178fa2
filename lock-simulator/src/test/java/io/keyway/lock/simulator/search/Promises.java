// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.LockMode;
import io.keyway.lock.simulator.search.Scope.Ask;
import org.jspecify.annotations.Nullable;

/**
 * What is promised in each state of a world: who is believed to hold may hold together (R2), what a member has granted
 * may stand beside what others believe in (R1), tokens rise over all uses that exclude each other (R5), and no more
 * permits are out than their taker sees (R12).
 */
final class Promises {
    private final Scope scope;
    private final Links links;
    private final Turns turns;
    private final int mostPermits;

    Promises(Scope scope, Links links, Turns turns) {
        this.scope = scope;
        this.links = links;
        this.turns = turns;
        mostPermits = scope.asks.stream()
                .flatMap(users -> users.stream())
                .mapToInt(Ask::capacity)
                .max()
                .orElse(0);
    }

    /**
     * A use begins with that token, which the state remembers.
     *
     * @param cached whether it was taken without a message
     * @return what is broken by that; null if nothing is
     */
    @Nullable
    String begins(int[] state, Ask ask, long token, boolean cached) {
        if (ask.mode() == LockMode.PERMITS && cached) {
            int out = believes(state) >>> 8;
            if (out > ask.capacity()) {
                return "R12: " + out + " permits are used by a cache that sees " + ask.capacity();
            }
        }
        long highest = Links.token(state, links.highest);
        long alone = Links.token(state, links.highestAlone);
        boolean rises = token > (ask.mode() == LockMode.EXCLUSIVE ? highest : alone);
        if (ask.mode() != LockMode.PERMITS) {
            Links.token(state, links.highest, Math.max(highest, token));
        }
        if (ask.mode() == LockMode.EXCLUSIVE) {
            Links.token(state, links.highestAlone, Math.max(alone, token));
        }
        return rises ? null : "R5: token " + token + " after " + Math.max(highest, alone);
    }

    private int believes(int[] state) {
        int all = 0;
        for (int client = 0; client < links.clients; client++) {
            all += links.isDead(state, client) ? 0 : turns.client(state[links.client(client)]).believes;
        }
        return all;
    }

    /** What is broken in that state; null if nothing is. */
    @Nullable
    String broken(int[] state) {
        int believed = believes(state);
        if (believed == 0) {
            return null;
        }
        String why = null;
        int alone = believed & 15;
        if (alone > 1 || (alone == 1 && believed > 15)) {
            why = "R2: several believe in what nobody can have together";
        } else if (believed >>> 8 > mostPermits) {
            why = "R12: " + (believed >>> 8) + " permits are believed in";
        }
        for (int member = 0; member < links.members; member++) {
            for (MemberLocal.Grant grant : turns.member(state[member]).grants) {
                String beside = beside(state, grant);
                why = beside == null ? why : beside;
            }
        }
        return why;
    }

    private @Nullable String beside(int[] state, MemberLocal.Grant grant) {
        for (int client = 0; client < links.clients; client++) {
            if (client == grant.client() || links.isDead(state, client)) {
                continue;
            }
            ClientLocal of = turns.client(state[links.client(client)]);
            for (int user = 0; of.believes != 0 && user < of.believed.length; user++) {
                LockMode mode = scope.asks.get(client).get(user).mode();
                if (of.believed[user] && (mode != grant.mode() || mode == LockMode.EXCLUSIVE)) {
                    return "R1: " + grant + " stands while client " + client + " believes in token " + of.token[user];
                }
            }
        }
        return null;
    }
}
