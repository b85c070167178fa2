// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.simulator.Fault.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Draws how an operator changes the member list: in any order, with any pause, back again, or with a member that ends
 * for good.
 */
final class ListPlanner {
    /** A shorter one is shorter than a handshake over the slowest links. */
    private static final long SHORTEST_TTL = Nanos.SECOND;

    private final Options options;
    private final Draws draws;
    private final List<Fault> faults = new ArrayList<>();
    private long at;

    private ListPlanner(Options options) {
        this.options = options;
        this.draws = new Draws(options.seed(), 13);
    }

    /** Always where there is a spare member, sometimes elsewhere. */
    static List<Fault> plan(Options options) {
        ListPlanner planner = new ListPlanner(options);
        if (options.spares() > 0 || planner.draws.chance(400)) {
            planner.change();
        }
        return planner.faults;
    }

    private void change() {
        int first = options.members() - options.spares();
        long before = (1L << first) - 1;
        int gone = draws.below(first);
        boolean adds = options.spares() > 0;
        boolean removes = !adds || draws.chance(400);
        int halvings = Long.numberOfTrailingZeros(Long.highestOneBit(options.maxTtl() / SHORTEST_TTL));
        boolean shorter = halvings > 0 && draws.chance(500);
        boolean sameList = shorter && draws.chance(150);
        long next = (adds ? before | 1L << first : before) & (removes ? ~(1L << gone) : -1);
        long after = Fault.listAndTtl(sameList ? before : next, shorter ? 1 + draws.below(halvings) : 0);
        at = draws.below(options.faultPhase() / 2);
        List<Integer> order = new ArrayList<>();
        for (int slot = 0; slot < options.members(); slot++) {
            order.add(slot);
        }
        Collections.shuffle(order, new Random(draws.next()));
        if (draws.chance(250)) {
            int until = 1 + draws.below(order.size() - 1);
            order.subList(0, until).forEach(slot -> give(slot, after));
            order.subList(0, until).forEach(slot -> give(slot, before));
        } else {
            order.forEach(slot -> give(slot, after));
        }
        if (shorter) {
            restartClients();
        }
    }

    /**
     * Those who are to ask for shorter leases are started anew, some before the members are, some after, and some when
     * all is over.
     */
    private void restartClients() {
        for (int client = 1; client <= options.clients(); client++) {
            if (draws.chance(600)) {
                long down = draws.logarithmic(Nanos.MILLI, options.maxTtl() / 8);
                faults.add(new Fault(
                        draws.one(Kind.CRASH, Kind.CLOSE), draws.below(options.faultPhase()), down, client, 0));
            }
        }
    }

    private void give(int slot, long list) {
        long down = draws.logarithmic(Nanos.MILLI, options.maxTtl() / 2);
        faults.add(new Fault(Kind.NEW_LIST, at, down, -slot, list));
        at += draws.logarithmic(10 * Nanos.MILLI, 2 * options.maxTtl());
    }
}
