// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.WriterPolicy;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A lock in one mode: a name and options, nothing else; and, with permits and a capacity, the requests of a semaphore.
 * Each request asks the engine for a re-acquire that needs no message first; the lease is then the only object that was
 * made.
 */
final class LockView implements DistributedLock {

    private static final int ONE = 1;

    private final ClientContext client;
    private final LockKey key;
    private final LockMode mode;
    private final int perResource;
    private final WriterPolicy policy;
    /** As of a request. */
    private final Optional<Duration> quiet;

    private final LockOptions given;
    private final ResolvedOptions options;

    LockView(ClientContext client, LockKey key, LockMode mode, LockOptions given) {
        this(client, key, mode, ONE, WriterPolicy.hard(), given);
    }

    /** A lock in mode EXCLUSIVE, asked for by a writer with that policy. */
    LockView(ClientContext client, LockKey key, WriterPolicy policy, LockOptions given) {
        this(client, key, LockMode.EXCLUSIVE, ONE, policy, given);
    }

    /** Permits, so many for one resource. */
    LockView(ClientContext client, LockKey key, int perResource, LockOptions given) {
        this(client, key, LockMode.PERMITS, perResource, WriterPolicy.hard(), given);
    }

    private LockView(
            ClientContext client, LockKey key, LockMode mode, int perResource, WriterPolicy policy, LockOptions given) {
        this.client = client;
        this.key = key;
        this.mode = mode;
        this.perResource = perResource;
        this.policy = policy;
        this.quiet = policy.isSoft() ? Optional.of(policy.quiet()) : Optional.empty();
        this.given = given;
        this.options = client.resolve(given);
    }

    @Override
    public LockName name() {
        return key.name();
    }

    @Override
    public DistributedLock with(LockOptions upper) {
        client.ensureOpen(key.name());
        return new LockView(client, key, mode, perResource, policy, given.overlaidBy(upper));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return acquire(ONE, ONE);
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(ONE, ONE, Duration.ZERO);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return tryAcquire(ONE, ONE, wait);
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return acquireAsync(ONE, ONE);
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return tryAcquireAsync(ONE, ONE, wait);
    }

    Lease acquire(int permits, int capacity) throws InterruptedException {
        limited();
        begin();
        HeldLease lease = lease(permits);
        if (reacquire(lease, capacity)) {
            return lease;
        }
        return delivered(pend(lease, permits, capacity, true, null).await()).orElseThrow();
    }

    /** {@code wait} of zero or less: one attempt, not queued. */
    Optional<Lease> tryAcquire(int permits, int capacity, Duration wait) throws InterruptedException {
        begin();
        HeldLease lease = lease(permits);
        if (reacquire(lease, capacity)) {
            return Optional.of(lease);
        }
        boolean queue = wait.compareTo(Duration.ZERO) > 0;
        return delivered(pend(lease, permits, capacity, queue, queue ? wait : client.requestTimeout())
                .await());
    }

    CompletableFuture<Lease> acquireAsync(int permits, int capacity) {
        limited();
        return async(permits, capacity, true, null, Optional::orElseThrow);
    }

    CompletableFuture<Optional<Lease>> tryAcquireAsync(int permits, int capacity, Duration wait) {
        boolean queue = wait.compareTo(Duration.ZERO) > 0;
        return async(permits, capacity, queue, queue ? wait : client.requestTimeout(), Function.identity());
    }

    private <T> CompletableFuture<T> async(
            int permits, int capacity, boolean queue, @Nullable Duration wait, Function<Optional<Lease>, T> shape) {
        if (client.closed()) {
            return CompletableFuture.failedFuture(closed());
        }
        HeldLease lease = lease(permits);
        try {
            if (reacquire(lease, capacity)) {
                return CompletableFuture.completedFuture(shape.apply(Optional.of(lease)));
            }
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
        PendingAcquire pending = new PendingAcquire(client, lease, request(permits, capacity, queue), wait);
        CompletableFuture<T> told = ClockedFuture.on(client.time());
        // Whoever completes it, but us: nobody will take the lease.
        CompletionStage<T> seen = told;
        seen.whenComplete((result, failure) -> pending.withdraw());
        CompletionStage<Optional<Lease>> outcome = pending.send();
        outcome.whenComplete((result, failure) -> {
            if (failure instanceof CancellationException) {
                return;
            }
            client.events().complete(() -> {
                if (failure != null) {
                    told.completeExceptionally(failure);
                } else {
                    deliver(told, result, shape);
                }
            });
        });
        return told;
    }

    private <T> void deliver(CompletableFuture<T> told, Optional<Lease> result, Function<Optional<Lease>, T> shape) {
        if (result.isPresent() && ((HeldLease) result.get()).endedByClose()) {
            told.completeExceptionally(closed());
        } else if (!told.complete(shape.apply(result))) {
            // Nobody will take it.
            result.ifPresent(lease -> ((HeldLease) lease).abandon());
        }
    }

    /** A soft writer may never be granted; who has not said until when it waits has not thought of that. */
    private void limited() {
        if (quiet.isPresent()) {
            throw new UnsupportedOperationException("the writer of " + key + " is " + policy
                    + ", and so may wait forever: say how long it may wait, by tryAcquire(wait)");
        }
    }

    private void begin() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before asking for " + key);
        }
        client.ensureOpen(key.name());
    }

    private HeldLease lease(int permits) {
        return new HeldLease(client, key, mode, permits, options);
    }

    private boolean reacquire(HeldLease lease, int capacity) {
        // Who yields asks the store who reads.
        if (quiet.isPresent() || !lease.reacquire(capacity)) {
            return false;
        }
        if (lease.endedByClose()) {
            throw closed();
        }
        return true;
    }

    private PendingAcquire pend(HeldLease lease, int permits, int capacity, boolean queue, @Nullable Duration wait) {
        PendingAcquire pending = new PendingAcquire(client, lease, request(permits, capacity, queue), wait);
        pending.sendWaiting();
        return pending;
    }

    private Request request(int permits, int capacity, boolean queue) {
        return new Request(
                client.nextRequestId(),
                key,
                mode,
                permits,
                capacity,
                options.ttl(),
                queue,
                options.owner(),
                options.holdAtLeast(),
                perResource,
                quiet);
    }

    private Optional<Lease> delivered(Optional<Lease> outcome) {
        if (outcome.isPresent() && ((HeldLease) outcome.get()).endedByClose()) {
            throw closed();
        }
        return outcome;
    }

    private ClientClosedException closed() {
        return new ClientClosedException(client.name(), key.name());
    }

    @Override
    public String toString() {
        return "DistributedLock[" + key.name() + ", " + mode + "]";
    }
}
