// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Counts the leases of each thread and name over one grant; the lease below knows no thread. */
final class ReentrantLeases implements ReentrantLocks {
    private final LockClient client;
    private final ConcurrentHashMap<Place, Hold> holds = new ConcurrentHashMap<>();

    private record Place(Thread thread, LockName name) {}

    /** A grant and how many leases of it are open. */
    private final class Hold implements SharedLease.Grant {
        private final Place place;
        private final Lease lease;
        private int open = 1;

        Hold(Place place, Lease lease) {
            this.place = place;
            this.lease = lease;
        }

        @Override
        public Lease lease() {
            return lease;
        }

        /** Returns another lease of the grant; null if the last one was closed meanwhile, by another thread. */
        synchronized @Nullable Lease again() {
            if (open == 0) {
                return null;
            }
            lease.ensureHeld();
            open = Math.addExact(open, 1);
            return new SharedLease(this);
        }

        @Override
        public synchronized boolean leave() {
            open--;
            if (open == 0) {
                holds.remove(place, this);
            }
            return open == 0;
        }

        synchronized int open() {
            return open;
        }
    }

    ReentrantLeases(LockClient client) {
        this.client = Objects.requireNonNull(client, "client");
    }

    @Override
    public DistributedLock lock(LockName name) {
        return new View(client.lock(name));
    }

    @Override
    public int holdCount(LockName name) {
        Hold hold = holds.get(new Place(Thread.currentThread(), name));
        return hold == null ? 0 : hold.open();
    }

    private @Nullable Lease again(LockName name) {
        Hold hold = holds.get(new Place(Thread.currentThread(), name));
        return hold == null ? null : hold.again();
    }

    private Lease first(Lease lease) {
        Place place = new Place(Thread.currentThread(), lease.name());
        Hold hold = new Hold(place, lease);
        holds.put(place, hold);
        return new SharedLease(hold);
    }

    private final class View implements DistributedLock {
        private final DistributedLock lock;

        View(DistributedLock lock) {
            this.lock = lock;
        }

        @Override
        public LockName name() {
            return lock.name();
        }

        @Override
        public DistributedLock with(LockOptions options) {
            return new View(lock.with(options));
        }

        @Override
        public Lease acquire() throws InterruptedException {
            Lease again = uninterrupted();
            return again != null ? again : first(lock.acquire());
        }

        @Override
        public Optional<Lease> tryAcquire() throws InterruptedException {
            return tryAcquire(Duration.ZERO);
        }

        @Override
        public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
            Lease again = uninterrupted();
            return again != null ? Optional.of(again) : lock.tryAcquire(wait).map(ReentrantLeases.this::first);
        }

        @Override
        public CompletableFuture<Lease> acquireAsync() {
            try {
                Lease again = again(name());
                return again != null ? CompletableFuture.completedFuture(again) : lock.acquireAsync();
            } catch (LeaseLostException e) {
                return CompletableFuture.failedFuture(e);
            }
        }

        @Override
        public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
            try {
                Lease again = again(name());
                return again != null
                        ? CompletableFuture.completedFuture(Optional.of(again))
                        : lock.tryAcquireAsync(wait);
            } catch (LeaseLostException e) {
                return CompletableFuture.failedFuture(e);
            }
        }

        private @Nullable Lease uninterrupted() throws InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted before asking for lock " + name());
            }
            return again(name());
        }

        @Override
        public String toString() {
            return "ReentrantLock[" + name() + "]";
        }
    }
}
