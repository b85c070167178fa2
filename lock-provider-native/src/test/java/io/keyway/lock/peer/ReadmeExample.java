// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import java.time.Duration;

/** The README's program, between the lines that say so. */
public final class ReadmeExample {
    private ReadmeExample() {}

    public static void main(String[] args) throws InterruptedException {
        // README begins
        try (LockClient client = Locks.open("lock:native:local://")) {
            DistributedLock nightly = client.lock("jobs/nightly");

            // Waits for its turn; the lease is renewed until it is closed.
            try (Lease lease = nightly.acquire()) {
                lease.lost().thenAccept(loss -> System.err.println("stop: " + loss));
                System.out.println("working under token " + lease.token());
                lease.ensureHeld();
            }

            // Or only if it is free.
            boolean ran = nightly.tryRunLocked(Duration.ZERO, lease -> System.out.println("ran"));
            System.out.println(ran);
        }
        // README ends
    }
}
