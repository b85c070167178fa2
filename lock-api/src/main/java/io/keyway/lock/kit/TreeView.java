// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.UnsupportedFeatureException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A lock of a tree in one mode: a name and options, nothing else. */
final class TreeView implements DistributedLock {
    private final ClientContext client;
    private final LockRequest request;
    private final LockOptions given;
    private final TransactionLocks<LeaseSet> locks;

    TreeView(ClientContext client, LockRequest request, LockOptions given) {
        this.client = client;
        this.request = request;
        this.given = given;
        this.locks = TransactionLocks.ofTrees(client, List.of(request), given);
    }

    /** Both modes of one lock. */
    static DistributedReadWriteLock both(ClientContext client, LockName name, LockOptions given) {
        return new Both(
                new TreeView(client, new LockRequest(name, LockMode.SHARED), given),
                new TreeView(client, new LockRequest(name, LockMode.EXCLUSIVE), given));
    }

    @Override
    public LockName name() {
        return request.name();
    }

    @Override
    public DistributedLock with(LockOptions upper) {
        client.ensureOpen(request.name());
        return new TreeView(client, request, given.overlaidBy(upper));
    }

    @Override
    public Lease acquire() throws InterruptedException {
        return lease(locks.take(null)).orElseThrow();
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return lease(locks.take(Duration.ZERO));
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return lease(locks.take(wait));
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        return locks.takeAsync(null, set -> lease(set).orElseThrow());
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return locks.takeAsync(wait, this::lease);
    }

    private Optional<Lease> lease(Optional<LeaseSet> levels) {
        return levels.map(set ->
                new JoinedLease(request.name(), request.mode(), set.token(request.name()), set, "with all below"));
    }

    @Override
    public String toString() {
        return "DistributedLock[" + request.name() + " with all below, " + request.mode() + "]";
    }

    private record Both(DistributedLock read, DistributedLock write) implements DistributedReadWriteLock {
        @Override
        public LockName name() {
            return write.name();
        }

        @Override
        public Optional<Lease> tryUpgrade(Lease lease, @Nullable Duration wait) {
            throw unchanging();
        }

        @Override
        public Lease downgrade(Lease lease) {
            throw unchanging();
        }

        private UnsupportedFeatureException unchanging() {
            return new UnsupportedFeatureException(
                    Feature.UPGRADE, "a lock of a tree (" + name() + "), whose mode changes in a transaction alone,");
        }
    }
}
