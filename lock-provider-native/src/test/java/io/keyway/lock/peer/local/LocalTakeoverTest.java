// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real processes in local mode while their host is killed, stopped and ended, again and again: never two believers,
 * never a lower token, everybody goes on. Beliefs are compared on the machine's one monotonic clock.
 */
class LocalTakeoverTest {
    @TempDir
    Path directory;

    @Test
    @Tag("soak")
    void threeProcessesOutliveTheirHosts() throws Exception {
        underFire(3, 3, 20261121);
    }

    @Test
    @Tag("soak")
    void tenProcessesOutliveTheirHosts() throws Exception {
        underFire(10, 60, Long.getLong("keyway.seed", 20261121));
    }

    private void underFire(int processes, int faults, long seed) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        try (BeliefCrew crew = new BeliefCrew(directory, "")) {
            WorkerPool history = crew.history();
            for (int i = 0; i < processes; i++) {
                history.start();
                history.awaitProgress("at the start", i + 1);
            }
            for (int fault = 0; fault < faults; fault++) {
                history.awaitProgress("after " + fault + " faults of seed " + seed);
                ChildJvm host = crew.host().orElse(history.workers().get(random.nextInt(processes)));
                switch (fault % 3) {
                    case 0 -> crew.replaceByForce(host);
                    case 1 -> {
                        history.stop(host);
                        LockSupport.parkNanos(BeliefCrew.TTL.multipliedBy(3).toNanos());
                        history.cont(host);
                    }
                    default -> {
                        history.end(host);
                        history.start();
                    }
                }
            }
            history.awaitProgress("after the last fault of seed " + seed);
            history.tour();
            history.endAndCheck("seed " + seed, processes * (faults + 1));
        }
    }
}
