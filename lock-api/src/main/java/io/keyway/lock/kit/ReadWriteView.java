// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockName;
import io.keyway.lock.UnsupportedFeatureException;
import java.time.Duration;
import java.util.Optional;

/** The two modes of one lock. */
final class ReadWriteView implements DistributedReadWriteLock {

    private final EngineClient client;
    private final DistributedLock read;
    private final DistributedLock write;

    ReadWriteView(EngineClient client, DistributedLock read, DistributedLock write) {
        this.client = client;
        this.read = read;
        this.write = write;
    }

    @Override
    public LockName name() {
        return write.name();
    }

    @Override
    public DistributedLock read() {
        return read;
    }

    @Override
    public DistributedLock write() {
        return write;
    }

    @Override
    public Optional<Lease> tryUpgrade(Lease lease, Duration wait) throws InterruptedException {
        throw unsupported();
    }

    @Override
    public Lease downgrade(Lease lease) {
        throw unsupported();
    }

    /** No engine can change the mode of a grant yet, hence the SPI has no verb for it. */
    private UnsupportedFeatureException unsupported() {
        client.ensureOpen(name());
        return new UnsupportedFeatureException(Feature.UPGRADE, client.server());
    }

    @Override
    public String toString() {
        return "DistributedReadWriteLock[" + name() + "]";
    }
}
