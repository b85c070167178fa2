// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What {@link ExplorerTest} does, in worlds of up to a hundred million states. */
@Tag("soak")
@Tag("explore")
class LongSearchTest {
    private static final int MOST = Integer.getInteger("keyway.states", 100_000_000);
    /** What stays within 4 GB, and within some minutes. */
    private static final int ROOM = 50_000_000;

    @Test
    void aRestartOfTheMember() {
        Searches.complete(Scopes.leaseRestarted(), MOST);
        Searches.complete(Scopes.sharedRestarted(), MOST);
    }

    @Test
    void clientsThatDieGiveUpAndAreForgotten() {
        Searches.complete(Scopes.leaseOfTheDead(), MOST);
        manyOf(Scopes.leaseTroubled());
    }

    @Test
    void threeClients() {
        manyOf(Scopes.leaseOfThree());
    }

    /** All states, or as many as there is room for. */
    private static void manyOf(Scope scope) {
        Explorer.Seen seen = Searches.clean(scope, Math.min(MOST, ROOM));
        assertThat(seen.complete() || seen.states() >= Math.min(MOST, ROOM))
                .as(scope.name)
                .isTrue();
    }

    @Test
    void readersAndWriters() {
        Searches.complete(Scopes.shared(), MOST);
        Searches.complete(Scopes.sharedAtOnce(), MOST);
    }

    @Test
    void lamportsQueue() {
        Searches.complete(Scopes.lamport(2, 3), MOST);
        Searches.complete(Scopes.lamport(3, 1), MOST);
        Searches.complete(Scopes.lamportOfThree(), MOST);
        manyOf(Scopes.lamportInTime());
    }

    @Test
    void theBakery() {
        manyOf(Scopes.bakeryRestarted());
        manyOf(Scopes.bakeryReaders());
    }
}
