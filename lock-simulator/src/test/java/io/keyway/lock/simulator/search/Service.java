// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether everybody in a world is served if nothing goes wrong any more (R15). */
final class Service {
    private final RpcWorld world;
    private final Scope scope;
    private final Links links;
    private final Turns turns;
    /** States on the way to where everybody is served. */
    private final LongSet served = new LongSet();

    Service(RpcWorld world, Scope scope, Links links, Turns turns) {
        this.world = world;
        this.scope = scope;
        this.links = links;
        this.turns = turns;
    }

    /** Whether nothing is on its way and somebody waits, of whom it is not known yet. */
    boolean isNeeded(int[] state) {
        boolean waits = false;
        if (scope.ticks == 0 && state[links.restarts] < scope.restarts) {
            return false; // time stands still, and with it the silence of who was killed
        }
        for (int client = 0; client < links.clients; client++) {
            if (state[links.toMember(client)] > 0 && state[links.link(client) + Links.STATE] == Links.UP) {
                return false;
            }
            if (!links.isDead(state, client)) {
                if (state[links.toClient(client)] > 0) {
                    return false;
                }
                waits |= turns.client(state[links.client(client)]).waits();
            }
        }
        return waits
                && !links.arePairs(state)
                && (scope.ticks != 0 || world.steps(state, new int[Explorer.MOST_STEPS]) == 0)
                && !served.contains(world.print(state));
    }

    /**
     * Nothing goes wrong any more, everybody is prompt, whoever holds releases, and nobody new comes.
     *
     * @return who is not served then; null if all are, or the way there leads no further
     */
    @Nullable
    String missed(int[] from) {
        int[] state = from.clone();
        if (state[links.alone] != 0 && !world.goesOn(state, (Steps.HEAL << 4) | scope.lonely)) {
            return null;
        }
        List<Long> way = new ArrayList<>();
        int units = scope.ticks == 0 ? 0 : scope.quarantine() + 4 * scope.lease;
        while (needsAnybody(state)) {
            int step = prompt(state);
            if (step >>> 4 == Steps.TICK && units-- == 0) {
                return "R15: a request waits forever";
            }
            if (step >>> 4 == Steps.TICK) {
                long print = world.print(state);
                if (served.contains(print)) {
                    break;
                }
                way.add(print);
            }
            if (!world.goesOn(state, step)) {
                return null;
            }
        }
        way.forEach(served::add);
        return null;
    }

    private boolean needsAnybody(int[] state) {
        for (int client = 0; client < links.clients; client++) {
            if (!links.isDead(state, client)
                    && turns.client(state[links.client(client)]).waits()) {
                return true;
            }
        }
        return false;
    }

    /** What arrives next; -1 if nothing is on its way. */
    int arrival(int[] state) {
        for (int client = 0; client < links.clients; client++) {
            if (!links.isDead(state, client) && state[links.toClient(client)] > 0) {
                return (Steps.TO_CLIENT << 4) | client;
            }
        }
        for (int pair = 0; links.members > 1 && pair < links.members * links.members; pair++) {
            int from = pair / links.members;
            int to = pair % links.members;
            if (state[links.pair(from, to)] > 0) {
                return (Steps.PAIR << 4) | (from << 2) | to;
            }
        }
        for (int client = 0; client < links.clients; client++) {
            if (state[links.toMember(client)] > 0 && state[links.link(client) + Links.STATE] == Links.UP) {
                return (Steps.TO_MEMBER << 4) | client;
            }
        }
        return -1;
    }

    /** What happens next if everybody does at once what there is to do. */
    private int prompt(int[] state) {
        int arrival = arrival(state);
        if (arrival >= 0) {
            return arrival;
        }
        for (int member = 0; member < links.members; member++) {
            if (turns.local(state[member]).isDue()) {
                return (Steps.FIRE << 4) | member;
            }
        }
        for (int client = 0; client < links.clients; client++) {
            if (links.isDead(state, client)) {
                continue;
            }
            ClientLocal of = turns.client(state[links.client(client)]);
            int up = state[links.link(client) + Links.STATE];
            if (up == Links.ENDED || up == Links.RESTARTED) {
                return (Steps.HEAR_END << 4) | client;
            } else if (up == Links.DOWN && of.wantsLink()) {
                return (Steps.CONNECT << 4) | client;
            } else if (of.isDue()) {
                return (Steps.FIRE << 4) | links.client(client);
            } else if (of.holder() >= 0) {
                return (Steps.RELEASE << 4) | client;
            }
        }
        return Steps.TICK << 4;
    }
}
