// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.Subscription;
import io.keyway.lock.cli.supervisor.CommandClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Ends the pause between two looks at one lock as soon as its store tells that it has changed. */
final class ChangeBell implements AutoCloseable {
    /** Whoever looks does so much more often; the watchers are there for what is told by itself. */
    private static final Duration ASKS = Duration.ofHours(1);

    private final List<Subscription> watches = new ArrayList<>();
    private boolean rung;

    /**
     * A bell that rings at a change of the lock and of the semaphore of that name.
     *
     * @param one null for all locks: then it never rings, as on this machine, where nobody may serve
     */
    ChangeBell(LockClient client, @Nullable LockName one, boolean overTheNetwork) {
        if (one != null && overTheNetwork && client.features().contains(Feature.LIST)) {
            for (LockKey key : List.of(LockKey.lock(one), LockKey.semaphore(one))) {
                watches.add(client.watch(key, ASKS, now -> ring()));
            }
        }
    }

    /** Ends the pause of now, or the next one. */
    synchronized void ring() {
        rung = true;
        notifyAll();
    }

    /** Waits until it rings, at most for that time in nanoseconds. */
    synchronized void await(CommandClock clock, long nanos) throws InterruptedException {
        long end = clock.nanoTime() + nanos;
        for (long left = nanos; !rung && left > 0; left = end - clock.nanoTime()) {
            clock.await(this, left);
        }
        rung = false;
    }

    @Override
    public void close() {
        watches.forEach(Subscription::close);
    }
}
