// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** To count the states of equal clients once loses nothing of what a search that tells them apart sees. */
class SymmetryTest {
    private static final int MOST = 2_000_000;

    /** The same world, whose equal clients are told apart; it notes what would be counted once. */
    private static final class Unfolded extends RpcWorld {
        private final LongSet folded = new LongSet();

        Unfolded(Scope scope) {
            super(scope);
        }

        @Override
        public long print(int[] state) {
            folded.add(super.print(state));
            return Explorer.print(state);
        }
    }

    private static void losesNothing(Scope scope, int most) {
        RpcWorld world = new RpcWorld(scope);
        Explorer.Seen seen = Explorer.search(world, most);
        Unfolded unfolded = new Unfolded(scope);
        Explorer.Seen all = Explorer.search(unfolded, most);
        assertThat(List.of(all.complete(), seen.complete())).as(scope.name).containsOnly(true);
        assertThat(all.states()).as(scope.name).isGreaterThan(seen.states() * 3 / 2);
        assertThat(seen.states()).as(scope.name).isEqualTo(unfolded.folded.size());
        assertThat(seen.depth()).as(scope.name).isEqualTo(all.depth());
        assertThat(world.goals()).as(scope.name).isEqualTo(unfolded.goals());
    }

    @Test
    void allStatesAreReachedButForNames() {
        losesNothing(Scopes.leaseAtOnce(), MOST);
    }

    @Test
    @Tag("soak")
    @Tag("explore")
    void allStatesOfLargerWorldsAreReachedButForNames() {
        losesNothing(Scopes.lease(), MOST);
        losesNothing(Scopes.leaseRestarted(), 50_000_000);
        losesNothing(Scopes.sharedRestarted(), 50_000_000);
    }

    static Stream<MutantsTest.Mutant> mutants() {
        return MutantsTest.mutants().stream()
                .filter(mutant -> Symmetry.isIn(mutant.scope().get()));
    }

    @ParameterizedTest
    @MethodSource
    void mutants(MutantsTest.Mutant mutant) {
        Explorer.Seen seen = Explorer.search(new RpcWorld(mutant.scope().get()), MOST);
        Explorer.Seen all = Explorer.search(new Unfolded(mutant.scope().get()), MOST);
        assertThat(List.of(String.valueOf(seen.broken()), String.valueOf(all.broken())))
                .allMatch(broken -> broken.startsWith(mutant.property()));
        assertThat(seen.way()).hasSameSizeAs(all.way());
    }
}
