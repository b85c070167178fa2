// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.WriterPolicy;
import io.keyway.lock.tck.history.LeaseFutures;
import io.keyway.lock.tck.wrap.ForwardingClient;
import io.keyway.lock.tck.wrap.ForwardingLease;
import io.keyway.lock.tck.wrap.ForwardingLock;
import io.keyway.lock.tck.wrap.ForwardingReadWriteLock;
import io.keyway.lock.tck.wrap.ForwardingSemaphore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/** A client whose leases are altered, wherever they come from; a subclass may alter its locks and semaphores, too. */
class AlteredClient extends ForwardingClient {

    private final UnaryOperator<Lease> altered;

    AlteredClient(LockClient to, UnaryOperator<Lease> altered) {
        super(to);
        this.altered = altered;
    }

    /** What the application sees of a lock. */
    DistributedLock altered(DistributedLock lock) {
        return new Lock(lock);
    }

    /** What the application sees of a semaphore. */
    DistributedSemaphore altered(DistributedSemaphore semaphore) {
        return new Semaphore(semaphore);
    }

    @Override
    public DistributedLock lock(LockName name) {
        return altered(super.lock(name));
    }

    @Override
    public DistributedReadWriteLock readWriteLock(LockName name) {
        return new Both(super.readWriteLock(name));
    }

    @Override
    public DistributedReadWriteLock readWriteLock(LockName name, WriterPolicy policy) {
        return new Both(super.readWriteLock(name, policy));
    }

    @Override
    public DistributedSemaphore semaphore(LockName name, Capacity capacity) {
        return altered(super.semaphore(name, capacity));
    }

    private static Lease original(Lease lease) {
        return lease instanceof ForwardingLease forwarding ? original(forwarding.to()) : lease;
    }

    /** A lock whose leases are altered. */
    class Lock extends ForwardingLock {
        Lock(DistributedLock to) {
            super(to);
        }

        @Override
        protected DistributedLock around(DistributedLock other) {
            return altered(other);
        }

        @Override
        public Lease acquire() throws InterruptedException {
            return altered.apply(super.acquire());
        }

        @Override
        public Optional<Lease> tryAcquire() throws InterruptedException {
            return super.tryAcquire().map(altered);
        }

        @Override
        public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
            return super.tryAcquire(wait).map(altered);
        }

        @Override
        public CompletableFuture<Lease> acquireAsync() {
            return LeaseFutures.lease(super.acquireAsync(), altered);
        }

        @Override
        public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
            return LeaseFutures.found(super.tryAcquireAsync(wait), altered);
        }
    }

    private final class Both extends ForwardingReadWriteLock {
        Both(DistributedReadWriteLock to) {
            super(to);
        }

        @Override
        public DistributedLock read() {
            return altered(super.read());
        }

        @Override
        public DistributedLock write() {
            return altered(super.write());
        }

        @Override
        public Optional<Lease> tryUpgrade(Lease read, Duration wait) throws InterruptedException {
            return super.tryUpgrade(original(read), wait).map(altered);
        }

        @Override
        public Lease downgrade(Lease write) {
            return altered.apply(super.downgrade(original(write)));
        }
    }

    /** A semaphore whose leases are altered. */
    class Semaphore extends ForwardingSemaphore {
        Semaphore(DistributedSemaphore to) {
            super(to);
        }

        @Override
        protected DistributedSemaphore around(DistributedSemaphore other) {
            return altered(other);
        }

        @Override
        public Lease acquire(int permits) throws InterruptedException {
            return altered.apply(super.acquire(permits));
        }

        @Override
        public Optional<Lease> tryAcquire(int permits) throws InterruptedException {
            return super.tryAcquire(permits).map(altered);
        }

        @Override
        public Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException {
            return super.tryAcquire(permits, wait).map(altered);
        }

        @Override
        public CompletableFuture<Lease> acquireAsync(int permits) {
            return LeaseFutures.lease(super.acquireAsync(permits), altered);
        }

        @Override
        public CompletableFuture<Optional<Lease>> tryAcquireAsync(int permits, Duration wait) {
            return LeaseFutures.found(super.tryAcquireAsync(permits, wait), altered);
        }
    }
}
