// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.wrap;

import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Lease;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A semaphore that passes everything on; {@code callLocked}, {@code tryRunLocked} and the forms without a number come
 * to its own methods.
 */
public abstract class ForwardingSemaphore implements DistributedSemaphore {
    private final DistributedSemaphore to;

    protected ForwardingSemaphore(DistributedSemaphore to) {
        this.to = Objects.requireNonNull(to, "to");
    }

    /** The semaphore that it stands before. */
    protected final DistributedSemaphore to() {
        return to;
    }

    /** The same wrapper about another semaphore. */
    protected abstract DistributedSemaphore around(DistributedSemaphore other);

    @Override
    public LockName name() {
        return to.name();
    }

    @Override
    public DistributedSemaphore with(LockOptions options) {
        return around(to.with(options));
    }

    @Override
    public Lease acquire(int permits) throws InterruptedException {
        return to.acquire(permits);
    }

    @Override
    public Optional<Lease> tryAcquire(int permits) throws InterruptedException {
        return to.tryAcquire(permits);
    }

    @Override
    public Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException {
        return to.tryAcquire(permits, wait);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(int permits) {
        return to.acquireAsync(permits);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(int permits, Duration wait) {
        return to.tryAcquireAsync(permits, wait);
    }

    @Override
    public int availablePermits() throws InterruptedException {
        return to.availablePermits();
    }

    @Override
    public String toString() {
        return to.toString();
    }
}
