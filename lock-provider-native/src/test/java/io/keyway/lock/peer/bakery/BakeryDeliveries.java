// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.kernel.StateEncoder;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** All orders in which the messages of two requests can arrive. */
final class BakeryDeliveries {
    private BakeryDeliveries() {}

    /** @param left by bit, whose client has left */
    private record State(BakeryWorld world, int asked, int left) {}

    /**
     * What is found first. Clients of the first member and of the last one ask once, in these modes, and leave when
     * they are let in.
     */
    static String search(List<RequestMode> modes, String... members) {
        List<String> ids = List.of(members);
        List<String> clients = List.of(ids.get(0), ids.get(ids.size() - 1));
        ArrayDeque<State> open = new ArrayDeque<>();
        Set<Long> known = new HashSet<>();
        open.add(new State(new BakeryWorld(members), 0, 0));
        while (!open.isEmpty()) {
            State state = open.removeLast();
            BakeryWorld world = state.world();
            if (world.conflict()) {
                return "two hold";
            }
            boolean moves = false;
            for (int i = 0; i < clients.size(); i++) {
                String id = clients.get(i);
                if ((state.asked() >> i & 1) == 0) {
                    BakeryWorld next = world.copy();
                    next.ask(id, 1, modes.get(i));
                    push(new State(next, state.asked() | 1 << i, state.left()), known, open);
                    moves = true;
                }
                if (!world.holds(id).isEmpty()) {
                    BakeryWorld next = world.copy();
                    next.leave(id, 1);
                    push(new State(next, state.asked(), state.left() | 1 << i), known, open);
                    moves = true;
                }
            }
            for (String from : ids) {
                for (String to : ids) {
                    if (world.queued(from, to) > 0) {
                        BakeryWorld next = world.copy();
                        next.deliver(from, to);
                        push(new State(next, state.asked(), state.left()), known, open);
                        moves = true;
                    }
                }
            }
            if (!moves && (state.left() != 3 || !ids.stream().allMatch(world::knowsNothing))) {
                return "somebody waits forever";
            }
        }
        return "clean: " + known.size() + " states";
    }

    private static void push(State state, Set<Long> known, ArrayDeque<State> open) {
        StateEncoder print = new StateEncoder(0);
        state.world().encode(print);
        print.put(state.asked()).put(state.left());
        if (known.add(print.fingerprint())) {
            open.add(state);
        }
    }
}
