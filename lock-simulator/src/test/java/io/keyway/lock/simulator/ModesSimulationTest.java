// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.service.DrainGoal;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Shared locks and permits of the lease service under all kinds of faults: every oracle is content after every event,
 * each of the kinds of fault struck something, and every rare situation came up.
 */
class ModesSimulationTest {
    private static final long EVENTS = Long.getLong("keyway.events", 800_000);
    private static final long SOAK = Long.getLong("keyway.soak", 50_000_000);

    /** Seventeen kinds of fault, of one member's worlds and of three members' ones. */
    private static final List<Fault.Kind> FAULTS = List.copyOf(EnumSet.range(Fault.Kind.DELAY, Fault.Kind.NEW_LIST));

    @Test
    void readersAndWritersKeepTheirPromises() throws InterruptedException {
        List<CoverageGoal> own = new ArrayList<>(List.of(ModeGoal.values()));
        own.addAll(List.of(DrainGoal.values()));
        reached(run(Profile.SHARED, 0, EVENTS), own);
    }

    @Test
    void permitsKeepTheirPromises() throws InterruptedException {
        List<CoverageGoal> own = new ArrayList<>(List.of(PermitGoal.values()));
        own.addAll(List.of(ModeGoal.RELEASED_TWICE, ModeGoal.TAKEN_OVER));
        reached(run(Profile.PERMITS, 0, EVENTS), own);
    }

    @Test
    @Tag("soak")
    void readersAndWritersForFiftyMillionEvents() throws InterruptedException {
        soak(Profile.SHARED);
    }

    @Test
    @Tag("soak")
    void permitsForFiftyMillionEvents() throws InterruptedException {
        soak(Profile.PERMITS);
    }

    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    private static void soak(Profile profile) throws InterruptedException {
        long first = Long.getLong("keyway.seed", 1L << 40);
        System.out.println(profile + " from seed " + first + ": " + run(profile, first, SOAK));
    }

    private static void reached(Campaign.Total total, List<? extends CoverageGoal> own) {
        List<CoverageGoal> goals = new ArrayList<>(own);
        goals.addAll(FAULTS);
        assertThat(total.goals().missing(goals)).as("never reached").isEmpty();
    }

    private static Campaign.Total run(Profile profile, long first, long events) throws InterruptedException {
        Campaign campaign = Campaigns.of(profile);
        Campaign.Total total = campaign.run(first, 1, events, 2);
        if (total.failed() != null) {
            fail(campaign.report(total.failed()));
        }
        assertThat(total.events()).as(total.toString()).isGreaterThanOrEqualTo(events);
        return total;
    }
}
