// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The simulator must find each shortcut that a cluster may not take. */
class UnsafeClusterTest {
    private static final long EVENTS = 6_000_000;

    private static final int SHRINK_RUNS = 600;

    private static Set<String> foundBy(Shortcut shortcut) {
        return switch (shortcut) {
            case OPENS_UNCONFIRMED, WAITS_FROM_ITS_START, FORGETS_LONGER_LEASES, BELIEVES_EACH_FIRST_USE ->
                Set.of("R1");
            case RELEASES_BY_THE_LATEST_LIST -> Set.of("R9");
            case WITHDRAWS_BY_THE_LATEST_LIST -> Set.of("R18");
            case DECIDES_ON_ALL_NAMES, SLEEPS_UNNOTICED -> Set.of("R1", "R2", "R3");
            case BELIEVES_COPIES, SHORTENS_HORIZONS -> throw new IllegalArgumentException("of RestartSimulationTest");
        };
    }

    /** From seed 0 each is found too, the rarest in 1.5 M events; a build has not that much time. */
    private static long firstSeed(Shortcut shortcut) {
        return switch (shortcut) {
            case OPENS_UNCONFIRMED, DECIDES_ON_ALL_NAMES -> 260;
            case WAITS_FROM_ITS_START -> 390;
            case RELEASES_BY_THE_LATEST_LIST -> 580;
            case WITHDRAWS_BY_THE_LATEST_LIST -> 100;
            case BELIEVES_EACH_FIRST_USE -> 80;
            case FORGETS_LONGER_LEASES, SLEEPS_UNNOTICED, BELIEVES_COPIES, SHORTENS_HORIZONS -> 0;
        };
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"FORGETS_LONGER_LEASES", "BELIEVES_COPIES", "SHORTENS_HORIZONS"})
    void isFound(Shortcut shortcut) {
        find(shortcut, EVENTS);
    }

    /** Two leases of different length, a list that changes and a name that moves have to come together. */
    @Test
    @Tag("soak")
    void whatIsRareIsFoundToo() {
        find(Shortcut.FORGETS_LONGER_LEASES, 10 * EVENTS);
    }

    private static void find(Shortcut shortcut, long most) {
        Campaign campaign = Campaigns.cluster(LeaseModel.Kit.with(shortcut));
        long events = 0;
        for (long seed = firstSeed(shortcut); events < most; seed++) {
            RunResult result = campaign.run(seed);
            events += result.events();
            Violation violation = result.violation();
            if (violation != null && foundBy(shortcut).contains(violation.property())) {
                Shrunk.isSmall(shortcut, campaign.shrink(result, SHRINK_RUNS));
                return;
            }
        }
        throw new AssertionError(shortcut + " was not found in " + events + " events");
    }
}
