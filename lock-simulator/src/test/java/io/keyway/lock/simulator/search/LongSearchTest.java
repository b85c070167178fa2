// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.bakery.UnsafeBakery;
import io.keyway.lock.peer.election.Elections;
import io.keyway.lock.peer.kernel.MachineFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What {@link ExplorerTest} does, in worlds of up to a hundred million states. */
@Tag("soak")
@Tag("explore")
class LongSearchTest {
    private static final int MOST = Integer.getInteger("keyway.states", 100_000_000);
    /** What stays within 4 GB, and within some minutes. */
    private static final int ROOM = 50_000_000;
    /** Where there are so many states of processes that these take the room. */
    private static final int FEW = Integer.getInteger("keyway.few", 3_000_000);

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
        manyOf(Scopes.bakeryReaders());
    }

    @Test
    void aLeaderOfTheBakeryThatIsKilled() {
        Searches.complete(Scopes.bakeryRestarted(), MOST);
        Searches.clean(Scopes.bakeryRestartedInTime(), Math.min(MOST, FEW));
    }

    @Test
    void aLeaderOfTheBakeryThatIsReplaced() {
        Searches.complete(Scopes.bakeryReplaced(4, 9), MOST);
        Searches.clean(Scopes.bakeryReplaced(), Math.min(MOST, FEW));
    }

    /** V3 takes clocks of quarters of a lease, V6 is seen with halves. */
    @Test
    void whoGetsASeatAndSpeaksAtOnceOrHasNoFloorIsFound() {
        Scope early = replaced(UnsafeBakery.SPEAKS_IN_A_NEW_SEAT, Scopes.bakeryReplaced(4, 9));
        assertThat(Searches.broken(early, MOST).broken()).startsWith("R1");
        Scope low = replaced(UnsafeBakery.NO_FLOOR_OF_SEATS, Scopes.bakeryReplaced(2, 6));
        assertThat(Searches.broken(low, MOST).broken()).startsWith("R5");
    }

    /** The machines of that variant, and the election of that scope. */
    private static Scope replaced(UnsafeBakery variant, Scope scope) {
        MachineFactory product = scope.memberMachines;
        MachineFactory unsafe = variant.machines();
        return scope.machines(
                key -> Elections.isElection(product.create(key)) ? product.create(key) : unsafe.create(key),
                scope.clientMachines);
    }

    /** B5. */
    @Test
    void aLeaderThatStartsAnewAndSpeaksAtOnceIsFound() {
        Scope scope = Scopes.bakeryRestarted();
        scope.machines(UnsafeBakery.SPEAKS_EARLY.machines(), scope.clientMachines);
        assertThat(Searches.broken(scope, MOST).broken()).startsWith("R1");
    }
}
