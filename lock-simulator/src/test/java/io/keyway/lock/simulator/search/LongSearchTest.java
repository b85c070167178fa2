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

    @Test
    void aRestartOfTheMember() {
        Searches.complete(Scopes.leaseRestarted(), MOST);
        Searches.complete(Scopes.sharedRestarted(), MOST);
    }

    @Test
    void clientsThatDieGiveUpAndAreForgotten() {
        Searches.complete(Scopes.leaseOfTheDead(), MOST);
        Searches.complete(Scopes.leaseTroubled(), MOST);
    }

    @Test
    void threeClients() {
        Explorer.Seen seen = Searches.clean(Scopes.leaseOfThree(), MOST);
        assertThat(seen.complete() || seen.states() >= 50_000_000).isTrue();
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
        Searches.complete(Scopes.lamportInTime(), MOST);
    }
}
