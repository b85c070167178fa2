// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.wrap;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A lock that passes everything on; {@code callLocked} and {@code tryRunLocked} come to its own {@code acquire}. */
public abstract class ForwardingLock implements DistributedLock {
    private final DistributedLock to;

    protected ForwardingLock(DistributedLock to) {
        this.to = Objects.requireNonNull(to, "to");
    }

    /** The lock that it stands before. */
    protected final DistributedLock to() {
        return to;
    }

    /** The same wrapper about another lock. */
    protected abstract DistributedLock around(DistributedLock other);

    @Override
    public LockName name() {
        return to.name();
    }

    @Override
    public DistributedLock with(LockOptions options) {
        return around(to.with(options));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return to.acquire();
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return to.tryAcquire();
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return to.tryAcquire(wait);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return to.acquireAsync();
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return to.tryAcquireAsync(wait);
    }

    @Override
    public String toString() {
        return to.toString();
    }
}
