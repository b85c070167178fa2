// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.ClientServices;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Locks in the order of their names, which are asked for one after the other. */
final class SortedLocks implements LockSet {
    private final ClientServices services;
    private final List<DistributedLock> locks;
    private final List<LockName> names;

    private SortedLocks(ClientServices services, List<DistributedLock> locks) {
        this.services = services;
        this.locks = List.copyOf(locks);
        this.names = locks.stream().map(DistributedLock::name).toList();
    }

    static LockSet of(Function<LockName, DistributedLock> locks, ClientServices services, Collection<LockName> names) {
        if (names.isEmpty()) {
            throw new IllegalArgumentException("A set of locks has at least 1 name; none was given.");
        }
        if (names.size() > MAX_NAMES) {
            throw new IllegalArgumentException("A set of locks has at most " + MAX_NAMES + " names, not " + names.size()
                    + ". Each lock is asked for after the one before and renewed by itself;"
                    + " take one lock for what they have in common.");
        }
        TreeMap<LockName, DistributedLock> sorted = new TreeMap<>();
        for (LockName name : names) {
            if (sorted.put(name, locks.apply(name)) != null) {
                throw new IllegalArgumentException("The set of locks has the name " + name
                        + " twice. A lock is not re-entrant; give each name once.");
            }
        }
        return new SortedLocks(services, new ArrayList<>(sorted.values()));
    }

    @Override
    public List<LockName> names() {
        return names;
    }

    @Override
    public LockSet with(LockOptions options) {
        if (options.holdAtLeast().isPresent()) {
            throw new IllegalArgumentException("A set of locks takes no holdAtLeast: a lock that is given back because"
                    + " another of the set is taken would be kept for nobody. Ask for it by one lock.");
        }
        UnaryOperator<DistributedLock> change = lock -> lock.with(options);
        return new SortedLocks(services, locks.stream().map(change).toList());
    }

    @Override
    public LeaseSet acquire() throws InterruptedException {
        return gather(lock -> Optional.of(lock.acquire()), false).orElseThrow();
    }

    @Override
    public Optional<LeaseSet> tryAcquire() throws InterruptedException {
        return gather(DistributedLock::tryAcquire, true);
    }

    @Override
    public Optional<LeaseSet> tryAcquire(Duration wait) throws InterruptedException {
        if (wait.isNegative() || wait.isZero()) {
            return tryAcquire();
        }
        TimeLimit limit = TimeLimit.in(wait, services.time());
        return gather(
                lock -> {
                    Duration left = limit.left();
                    return left.isZero() ? Optional.empty() : lock.tryAcquire(left);
                },
                false);
    }

    @Override
    public CompletableFuture<LeaseSet> acquireAsync() {
        return new PendingSet<LeaseSet>(services, locks, null, Optional::orElseThrow).begin();
    }

    @Override
    public CompletableFuture<Optional<LeaseSet>> tryAcquireAsync(Duration wait) {
        return new PendingSet<>(services, locks, wait, UnaryOperator.identity()).begin();
    }

    /** Asks for one lock; empty ends the set. */
    private interface Ask {
        Optional<Lease> of(DistributedLock lock) throws InterruptedException;
    }

    /** {@code attempt}: nothing limits the time, so that what is given back is free when this returns. */
    private Optional<LeaseSet> gather(Ask ask, boolean attempt) throws InterruptedException {
        GatheredLeases leases = new GatheredLeases(locks.size());
        @Nullable LeaseSet all = null;
        boolean refused = false;
        try {
            while (!leases.complete()) {
                Optional<Lease> lease = ask.of(locks.get(leases.next()));
                if (lease.isEmpty()) {
                    refused = true;
                    return Optional.empty();
                }
                leases.add(lease.get());
            }
            all = HeldSet.of(services, leases.all());
            return Optional.of(all);
        } finally {
            if (all == null) {
                leases.giveBack(refused && attempt);
            }
        }
    }

    @Override
    public String toString() {
        return "LockSet" + names;
    }
}
