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
    private final boolean waits;

    /** Opens a client. */
    public KeywayContender(String url) {
        this(url, true);
    }

    private KeywayContender(String url, boolean waits) {
        client = Locks.open(url);
        this.waits = waits;
    }

    /** One that does not wait for the reply to a release. */
    static KeywayContender withoutWait(String url) {
        return new KeywayContender(url, false);
    }

    @Override
    public String name() {
        return "keyway";
    }

    @Override
    public Hold take(String name) throws InterruptedException {
        DistributedLock lock = client.lock(name);
        Lease lease = lock.acquire();
        if (!waits) {
            return lease::releaseAsync;
        }
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
