// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import io.keyway.lock.cli.supervisor.CommandClock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A pause that would never end by the clock ends by a change. */
class ChangeBellTest {
    private static final LockName NAME = LockName.of("jobs/nightly");

    /** Stands still. */
    private static final CommandClock STILL = new CommandClock() {
        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public void pause(long nanos) {
            throw new AssertionError("nobody may pause");
        }

        @Override
        public void await(Object monitor, long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.timedWait(monitor, nanos);
        }
    };

    private static boolean isHeld(LockClient client) throws InterruptedException {
        return client.admin().show(LockKey.lock(NAME)).isPresent();
    }

    @Test
    void aChangeEndsThePause() throws Exception {
        String url = "lock:native:mem://bell";
        try (LockClient looks = Locks.open(url);
                LockClient other = Locks.open(url);
                ChangeBell bell = new ChangeBell(looks, NAME, true)) {
            assertThat(isHeld(looks)).isFalse();
            CountDownLatch waits = new CountDownLatch(1);
            CompletableFuture<Lease> acquired = CompletableFuture.supplyAsync(() -> {
                try {
                    waits.await();
                    return other.lock(NAME).acquire();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            while (!isHeld(looks)) {
                waits.countDown();
                bell.await(STILL, TimeUnit.DAYS.toNanos(1));
            }
            acquired.join().release();
        }
    }

    @Test
    void itIsRungByHandForAllLocks() throws Exception {
        try (LockClient client = Locks.open("lock:native:mem://silent");
                ChangeBell bell = new ChangeBell(client, null, true)) {
            bell.ring();
            bell.await(STILL, TimeUnit.DAYS.toNanos(1));
            bell.await(STILL, 0);
            assertThat(client.features()).isNotEmpty();
        }
    }
}
