// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A lock in one mode: a name and options, nothing else. */
final class LockView implements DistributedLock {

    private static final int ONE = 1;

    private final EngineClient client;
    private final LockKey key;
    private final LockMode mode;
    private final LockOptions options;
    private final Acquirer acquirer;

    LockView(EngineClient client, LockKey key, LockMode mode, LockOptions options) {
        this.client = client;
        this.key = key;
        this.mode = mode;
        this.options = options;
        this.acquirer = new Acquirer(client, key, mode, client.terms(options));
    }

    @Override
    public LockName name() {
        return key.name();
    }

    @Override
    public DistributedLock with(LockOptions upper) {
        client.ensureOpen(key.name());
        return new LockView(client, key, mode, options.overlaidBy(upper));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return acquirer.acquire(ONE, ONE);
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return acquirer.tryAcquire(ONE, ONE, Duration.ZERO);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return acquirer.tryAcquire(ONE, ONE, wait);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return acquirer.acquireAsync(ONE, ONE);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return acquirer.tryAcquireAsync(ONE, ONE, wait);
    }

    @Override
    public String toString() {
        return "DistributedLock[" + key.name() + ", " + mode + "]";
    }
}
