// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import io.keyway.lock.Capacity;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import java.util.EnumSet;
import java.util.Set;

/** Keyway by its public API. */
public final class KeywayContender implements Contender {
    private static final Capacity CAPACITY = Capacity.of(Use.PERMITS);

    private final LockClient client;
    private final boolean waits;
    private final String name;

    /** Opens a client. */
    public KeywayContender(String url) {
        this("keyway", url, true);
    }

    private KeywayContender(String name, String url, boolean waits) {
        client = Locks.open(url);
        this.name = name;
        this.waits = waits;
    }

    /** One beside others of other URLs. */
    static KeywayContender named(String name, String url) {
        return new KeywayContender(name, url, true);
    }

    /** One that does not wait for the reply to a release. */
    static KeywayContender withoutWait(String url) {
        return new KeywayContender("keyway", url, false);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Set<Use> offers() {
        Set<Use> offered = EnumSet.of(Use.LOCK);
        if (client.features().contains(Feature.READ_WRITE)) {
            offered.addAll(EnumSet.of(Use.READ, Use.WRITE));
        }
        if (client.features().contains(Feature.SEMAPHORE)) {
            offered.add(Use.PERMIT);
        }
        return offered;
    }

    @Override
    public Hold take(String name) throws InterruptedException {
        return take(name, Use.LOCK);
    }

    @Override
    public Hold take(String name, Use use) throws InterruptedException {
        Lease lease = switch (use) {
            case LOCK -> client.lock(name).acquire();
            case WRITE -> client.readWriteLock(name).write().acquire();
            case READ -> client.readWriteLock(name).read().acquire();
            case PERMIT -> client.semaphore(name, CAPACITY).acquire();
        };
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
