// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.simulator.Options.Profile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * How fast a campaign runs on one core, by the time of that thread alone and once the machine code is there: that of
 * {@code -Dkeyway.profile}, or of one member's leases.
 */
class SimulatorSpeedTest {
    private static final long WARM_UP = Long.getLong("keyway.events", 16_000_000);
    private static final long MEASURED = 4_000_000;

    @Test
    @Tag("soak")
    void aMillionEventsASecondOnOneCore() {
        Campaign campaign = Campaigns.of(Profile.valueOf(System.getProperty("keyway.profile", "LEASE")));
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long seed = 0;
        for (long events = 0; events < WARM_UP; seed++) {
            events += campaign.run(seed).events();
        }
        long before = threads.getCurrentThreadCpuTime();
        long measured = 0;
        while (measured < MEASURED) {
            measured += campaign.run(seed++).events();
        }
        double seconds = (threads.getCurrentThreadCpuTime() - before) / 1e9;
        long rate = (long) (measured / seconds);
        System.out.println("The simulator ran " + rate + " events per second of processor time.");
        assertThat(rate).as("a tenth of what is meant").isGreaterThan(100_000);
    }
}
