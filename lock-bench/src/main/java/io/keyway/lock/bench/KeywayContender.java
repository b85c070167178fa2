// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;

/** Keyway by its public API. */
public final class KeywayContender implements Contender {
    private final LockClient client;

    /** Opens a client. */
    public KeywayContender(String url) {
        client = Locks.open(url);
    }

    @Override
    public String name() {
        return "keyway";
    }

    @Override
    public Hold take(String name) throws InterruptedException {
        DistributedLock lock = client.lock(name);
        Lease lease = lock.acquire();
        return () -> {
            ReleaseOutcome outcome = lease.release();
            if (outcome != ReleaseOutcome.RELEASED) {
                throw new IllegalStateException("The release of " + name + " ended in " + outcome);
            }
        };
    }

    @Override
    public void close() {
        client.close();
    }
}
