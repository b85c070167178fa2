// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockSet;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A set of locks of trees, which share the grants of the levels that they have in common. */
final class TreeSetView implements LockSet {
    private final ClientContext client;
    private final List<LockName> names;
    private final LockOptions given;
    private final TransactionLocks<LeaseSet> locks;

    /** {@code names}: in order, each once. */
    TreeSetView(ClientContext client, List<LockName> names, LockOptions given) {
        this.client = client;
        this.names = names;
        this.given = given;
        this.locks = TransactionLocks.ofTrees(
                client,
                names.stream().map(LockName::value).map(LockRequest::exclusive).toList(),
                given);
    }

    @Override
    public List<LockName> names() {
        return names;
    }

    @Override
    public LockSet with(LockOptions options) {
        return new TreeSetView(client, names, given.overlaidBy(options));
    }

    @Override
    public LeaseSet acquire() throws InterruptedException {
        return locks.take(null).orElseThrow();
    }

    @Override
    public Optional<LeaseSet> tryAcquire() throws InterruptedException {
        return locks.take(Duration.ZERO);
    }

    @Override
    public Optional<LeaseSet> tryAcquire(Duration wait) throws InterruptedException {
        return locks.take(wait);
    }

    @Override
    public CompletableFuture<LeaseSet> acquireAsync() {
        return locks.takeAsync(null, Optional::orElseThrow);
    }

    @Override
    public CompletableFuture<Optional<LeaseSet>> tryAcquireAsync(Duration wait) {
        return locks.takeAsync(wait, taken -> taken);
    }

    @Override
    public String toString() {
        return "LockSet" + names;
    }
}
