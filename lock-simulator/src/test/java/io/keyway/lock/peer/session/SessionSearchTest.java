// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.session.SearchWorld.Budget;
import io.keyway.lock.simulator.search.Search;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every order of events of small worlds, shortest first: messages once and in order, one live session of a client, no
 * end of a grant that is believed.
 */
class SessionSearchTest {
    private static final class Run {
        final SearchWorld.Shared shared = new SearchWorld.Shared();
        long states;

        /** All of a scope, or the first so many states of it. */
        void run(Budget budget, UnaryOperator<SearchWorld> prepare, int most) {
            states += Search.all(prepare.apply(new SearchWorld(budget, shared)), most)
                    .states();
        }
    }

    /** What a session goes through when its link breaks. */
    private static final Set<SessionGoal> RECONNECTS = EnumSet.of(
            SessionGoal.RESUMED,
            SessionGoal.RESENT,
            SessionGoal.DUPLICATE_DROPPED,
            SessionGoal.SUPERSEDED_LINK,
            SessionGoal.STALE_HELLO_REFUSED);

    /** All states of a world whose links break twice, within so many units of its clock. */
    @SuppressWarnings("SystemOut") // a search that says nothing of what it saw proves nothing
    private static void twoReconnects(int ticks, int asks, int most) {
        SearchWorld.Shared shared = new SearchWorld.Shared();
        Budget budget = new Budget(ticks, asks, 2, 0, 0, 0, 0, 0);
        Search.Seen seen = Search.all(new SearchWorld(budget, shared), most);
        System.out.println("sessions, 2 reconnects: " + budget + ": " + seen + "; reached " + shared.goals);
        assertThat(seen.complete()).as(budget.toString()).isTrue();
        assertThat(shared.goals).containsAll(names(RECONNECTS));
    }

    @Test
    void twoReconnectsAreSeenInAllOrders() {
        twoReconnects(1, 1, 100_000);
    }

    @Test
    @Tag("soak")
    @Tag("explore")
    void twoReconnectsOverMoreTimeAndMoreMessagesAreSeenInAllOrders() {
        twoReconnects(1, 2, 100_000);
        twoReconnects(2, 1, 500_000);
    }

    @Test
    @Tag("soak")
    void smallWorldsKeepEveryPromise() {
        Run search = new Run();
        int most = 40_000;
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
        Run search = new Run();
        int most = 1_500_000;
        search.run(new Budget(4, 2, 1, 1, 1, 0, 0, 0), world -> world, most);
        search.run(new Budget(10, 2, 2, 1, 1, 0, 0, 0), SearchWorld::held, most);
        search.run(new Budget(6, 2, 1, 0, 1, 1, 1, 1), SearchWorld::held, most);
        assertThat(search.states).isGreaterThan(most);
    }
}
