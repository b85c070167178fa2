// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;

/** Rules 301 and 302: no two at once. */
final class ExclusionChecks {
    @Check(rules = "LK-301 LK-302", from = Profile.SMOKE)
    @Hint("Does an attempt look whether the lock is held, by whichever client?")
    void aSecondClientIsRefusedWhileTheFirstHolds(CheckContext t) throws Exception {
        Lease held = t.client("first").lock(t.name()).acquire();
        LockClient second = t.client("second");
        Optional<Lease> got = second.lock(t.name()).tryAcquire();
        t.expect(got.isEmpty(), "the second client was given a lock that the first one holds");
        t.expect(held.isHeld(), "the first client's lease is not held any more, though nothing happened to it");
        t.expectEqual("the outcome of the release", ReleaseOutcome.RELEASED, held.release());
        t.expectGranted(second.lock(t.name()).tryAcquire(), "the lock was released, and a second client was refused");
    }

    @Check(
            rules = "LK-301 LK-302",
            from = Profile.SMOKE,
            statistical = "a window of 1 ms between look and take is found in 99 of 100 runs")
    @Hint("Is looking and taking one atomic step at the store?")
    void ofManyThatAskAtOnceOneIsGranted(CheckContext t) throws Exception {
        int clients = 6;
        List<LockClient> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            all.add(t.client("c" + i));
        }
        for (int round = 0; round < t.rounds(3, 10, 25); round++) {
            String name = t.freshName();
            CyclicBarrier together = new CyclicBarrier(clients);
            List<Task<Optional<Lease>>> tasks = new ArrayList<>();
            for (LockClient client : all) {
                tasks.add(t.start("an attempt of one of six", () -> {
                    together.await();
                    return client.lock(name).tryAcquire();
                }));
            }
            int granted = 0;
            for (Task<Optional<Lease>> task : tasks) {
                granted += task.get().isPresent() ? 1 : 0;
            }
            t.expect(granted <= 1, granted + " of " + clients + " clients that asked at once were granted");
        }
    }

    @Check(rules = "LK-313", from = Profile.SMOKE)
    @Hint("Is the holder recognised by its grant, or by its client?")
    void theHolderItselfWaitsAsAnyOther(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Lease held = client.lock(t.name()).acquire();
        t.expectTaken(client, "the client that holds the lock was given it again");
        Task<Optional<Lease>> waits =
                t.trying("a second acquire by the holder", client, t.name(), Duration.ofSeconds(30));
        t.pass(t.ttl(1, 4));
        t.expect(!waits.isDone(), "a second acquire by the holder did not wait");
        held.release();
        t.expect(waits.get().isPresent(), "the second acquire was not granted after the release");
    }
}
