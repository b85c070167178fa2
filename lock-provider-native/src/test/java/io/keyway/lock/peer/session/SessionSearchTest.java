// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.session.SearchWorld.Budget;
import io.keyway.lock.peer.session.SearchWorld.Move;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every order of events of small worlds, shortest first: messages once and in order, one live session of a client, no
 * end of a grant that is believed.
 */
class SessionSearchTest {
    private record Node(
            @Nullable Node parent, String move, @Nullable SearchWorld world) {}

    private static final class Search {
        final SearchWorld.Shared shared = new SearchWorld.Shared();
        long states;

        /** All of a scope, or the first so many states of it. */
        void run(Budget budget, UnaryOperator<SearchWorld> prepare, int most) {
            Set<Long> known = new HashSet<>();
            ArrayDeque<Node> frontier = new ArrayDeque<>();
            SearchWorld start = prepare.apply(new SearchWorld(budget, shared));
            known.add(start.fingerprint());
            frontier.add(new Node(null, "start", start));
            while (!frontier.isEmpty() && known.size() < most) {
                Node node = frontier.pollFirst();
                SearchWorld world = node.world();
                Node path = new Node(node.parent(), node.move(), null);
                for (Move move : world.moves()) {
                    SearchWorld next = after(world, move, path);
                    if (known.add(next.fingerprint())) {
                        frontier.addLast(new Node(path, move.name(), next));
                    }
                }
            }
            states += known.size();
        }

        private static SearchWorld after(SearchWorld world, Move move, Node path) {
            try {
                return world.after(move);
            } catch (AssertionError | RuntimeException e) {
                List<String> steps = new ArrayList<>(List.of(move.name()));
                for (Node at = path; at != null; at = at.parent()) {
                    steps.add(0, at.move());
                }
                throw new AssertionError(e + "\n  " + String.join("\n  ", steps), e);
            }
        }
    }

    @Test
    @Tag("soak")
    void smallWorldsKeepEveryPromise() {
        Search search = new Search();
        int most = 15_000;
        search.run(new Budget(1, 1, 1, 1, 1, 0, 0, 0), world -> world, most);
        search.run(new Budget(2, 2, 1, 1, 1, 0, 0, 0), SearchWorld::settled, most);
        search.run(new Budget(8, 1, 1, 0, 0, 0, 0, 0), SearchWorld::held, most);
        search.run(new Budget(5, 1, 0, 0, 0, 1, 0, 0), SearchWorld::held, most);
        search.run(new Budget(3, 2, 1, 0, 0, 0, 1, 1), SearchWorld::held, most);
        search.run(new Budget(3, 1, 1, 0, 0, 0, 0, 1), SearchWorld::apart, most);
        // One member has no peer to hear a higher epoch from; doubt falls between two steps of this clock.
        assertThat(search.shared.goals)
                .containsAll(names(EnumSet.complementOf(EnumSet.of(SessionGoal.EPOCH_ADOPTED, SessionGoal.DOUBTED))));
    }

    private static List<String> names(Set<SessionGoal> goals) {
        return goals.stream().map(Enum::name).toList();
    }

    @Test
    @Tag("soak")
    void largerWorldsKeepEveryPromise() {
        Search search = new Search();
        int most = 1_500_000;
        search.run(new Budget(4, 2, 1, 1, 1, 0, 0, 0), world -> world, most);
        search.run(new Budget(10, 2, 2, 1, 1, 0, 0, 0), SearchWorld::held, most);
        search.run(new Budget(6, 2, 1, 0, 1, 1, 1, 1), SearchWorld::held, most);
        assertThat(search.states).isGreaterThan(most);
    }
}
