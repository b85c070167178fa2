// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockName;
import java.time.Duration;
import java.util.Optional;

/** The two modes of one lock. */
final class ReadWriteView implements DistributedReadWriteLock {

    private final DistributedLock read;
    private final DistributedLock write;
    private final ModeChange change;

    ReadWriteView(DistributedLock read, DistributedLock write, ModeChange change) {
        this.change = change;
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
        return change.upgrade(lease, wait);
    }

    @Override
    public Lease downgrade(Lease lease) {
        return change.downgrade(lease);
    }

    @Override
    public String toString() {
        return "DistributedReadWriteLock[" + name() + "]";
    }
}
