// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Lease;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A semaphore: a name, a capacity that is asked at each call, and options. Its requests are those of a {@link
 * LockView}.
 */
final class SemaphoreView implements DistributedSemaphore {

    private final ClientContext client;
    private final LockKey key;
    private final Capacity capacity;
    private final LockOptions options;
    private final LockView requests;

    SemaphoreView(ClientContext client, LockKey key, Capacity capacity, LockOptions options) {
        this.client = client;
        this.key = key;
        this.capacity = capacity;
        this.options = options;
        this.requests = new LockView(client, key, capacity.limit(), options);
    }

    @Override
    public LockName name() {
        return key.name();
    }

    @Override
    public DistributedSemaphore with(LockOptions upper) {
        client.ensureOpen(key.name());
        return new SemaphoreView(client, key, capacity, options.overlaidBy(upper));
    }

    @Override
    public Lease acquire(int permits) throws InterruptedException {
        return requests.acquire(permits, capacityFor(permits));
    }

    @Override
    public Optional<Lease> tryAcquire(int permits) throws InterruptedException {
        return requests.tryAcquire(permits, capacityFor(permits), Duration.ZERO);
    }

    @Override
    public Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException {
        return requests.tryAcquire(permits, capacityFor(permits), wait);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync(int permits) {
        return requests.acquireAsync(permits, capacityFor(permits));
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(int permits, Duration wait) {
        return requests.tryAcquireAsync(permits, capacityFor(permits), wait);
    }

    @Override
    public int availablePermits() throws InterruptedException {
        client.ensureOpen(key.name());
        int available = client.await(
                client.engine().availablePermits(key, capacity.current(), client.requestTimeout()),
                () -> client.noAnswer(key.toString(), key.name()));
        return Math.max(0, available);
    }

    /**
     * More permits than there are would wait forever; without any resource at all, though, the caller may wait for
     * one.
     */
    private int capacityFor(int permits) {
        if (permits < 1) {
            throw new IllegalArgumentException("A request is for at least 1 permit of " + key + ", not " + permits);
        }
        int current = capacity.current();
        if (current > 0 && permits > current) {
            throw new IllegalArgumentException(
                    permits + " permits of " + key + " were asked for, but its capacity is " + current);
        }
        return current;
    }

    @Override
    public String toString() {
        return "DistributedSemaphore[" + key.name() + "]";
    }
}
