// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.lamport.LamportAlgorithm;
import io.keyway.lock.peer.lamport.UnsafeLamport;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.simulator.search.CellWorld.Ask;
import io.keyway.lock.simulator.search.CellWorld.Plan;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The cells of members and clients, as they ship, in every order of small worlds, and in many orders of larger ones.
 */
class AlgorithmSearchTest {
    private static final Algorithm LAMPORT = new LamportAlgorithm();
    private static final Algorithm LEASE =
            new LeaseAlgorithm(LockSettings.defaults().withoutCache());

    private static final int[] ONE_EACH_OF_TWO = {0, 1};
    private static final int[] ONE_EACH_OF_THREE = {0, 1, 2};
    private static final int[] ALL_AT_ONE = {0, 0, 0};

    private static final List<Ask> TWO = List.of(Ask.exclusive(0), Ask.exclusive(1));
    private static final List<Ask> TWICE = List.of(Ask.exclusive(0), Ask.exclusive(1), Ask.exclusive(0));
    private static final List<Ask> THREE = List.of(Ask.exclusive(0), Ask.exclusive(1), Ask.exclusive(2));

    private static CellWorld lamport(int members, int[] memberOf, List<Ask> asks) {
        return start(LAMPORT, LAMPORT.memberMachines(all -> true), members, memberOf, asks);
    }

    private static CellWorld unsafe(UnsafeLamport variant, int members, int[] memberOf, List<Ask> asks) {
        return start(LAMPORT, variant.machines(), members, memberOf, asks);
    }

    private static CellWorld lease(List<Ask> asks) {
        return start(LEASE, LEASE.memberMachines(all -> true), 1, ALL_AT_ONE, asks);
    }

    private static CellWorld start(
            Algorithm algorithm, MachineFactory machines, int members, int[] memberOf, List<Ask> asks) {
        return CellWorld.start(new Plan(algorithm, machines, members, memberOf, asks));
    }

    @Test
    void oneMemberKeepsItsPromises() {
        Search.walks(lease(THREE), 1, 20);
        Search.all(lease(TWO), 2_000);
    }

    @Test
    void lamportsMembersKeepTheirPromises() {
        Search.walks(lamport(2, ONE_EACH_OF_TWO, TWICE), 1, 20);
        Search.walks(lamport(3, ONE_EACH_OF_THREE, THREE), 2, 20);
        Search.all(lamport(2, ONE_EACH_OF_TWO, TWO), 2_000);
    }

    @Test
    void theSearchFindsWhatIsWrong() {
        CellWorld majority = unsafe(UnsafeLamport.MAJORITY, 3, ONE_EACH_OF_THREE, THREE);
        assertThatThrownBy(() -> Search.walks(majority, 1, 2_000)).hasMessageContaining("hold together");
        CellWorld releases = unsafe(UnsafeLamport.RELEASES_ALL, 2, ONE_EACH_OF_TWO, TWICE);
        assertThatThrownBy(() -> Search.walks(releases, 1, 2_000)).isInstanceOf(AssertionError.class);
    }

    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void manyStates() {
        int most = 300_000;
        System.out.println("lease, exclusive: " + Search.all(lease(TWO), most));
        System.out.println("lamport, 2 members: " + Search.all(lamport(2, ONE_EACH_OF_TWO, TWO), most));
        System.out.println("lamport, 3 members: " + Search.all(lamport(3, ONE_EACH_OF_THREE, THREE), most));
        long steps = Search.walks(lamport(2, ONE_EACH_OF_TWO, TWICE), 7, 20_000)
                + Search.walks(lamport(3, ONE_EACH_OF_THREE, THREE), 8, 20_000);
        assertThat(steps).isGreaterThan(40_000);
    }
}
