// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.wrap;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockName;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/** A read-write lock that passes everything on. */
public abstract class ForwardingReadWriteLock implements DistributedReadWriteLock {
    private final DistributedReadWriteLock to;

    protected ForwardingReadWriteLock(DistributedReadWriteLock to) {
        this.to = Objects.requireNonNull(to, "to");
    }

    /** The lock that it stands before. */
    protected final DistributedReadWriteLock to() {
        return to;
    }

    @Override
    public LockName name() {
        return to.name();
    }

    @Override
    public DistributedLock read() {
        return to.read();
    }

    @Override
    public DistributedLock write() {
        return to.write();
    }

    @Override
    public Optional<Lease> tryUpgrade(Lease read, Duration wait) throws InterruptedException {
        return to.tryUpgrade(read, wait);
    }

    @Override
    public Lease downgrade(Lease write) {
        return to.downgrade(write);
    }

    @Override
    public String toString() {
        return to.toString();
    }
}
