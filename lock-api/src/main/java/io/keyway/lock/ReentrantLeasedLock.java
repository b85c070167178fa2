// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** Counts holds for each thread; the lease below knows no thread. */
final class ReentrantLeasedLock implements LeasedLock {
    private final DistributedLock lock;

    @SuppressWarnings("ThreadLocalUsage") // an instance is one lock
    // Not one owner field: after a loss the thread that lost still has to unlock while another holds.
    private final ThreadLocal<@Nullable Hold> holds = new ThreadLocal<>();

    private static final class Hold {
        final Lease lease;
        int count = 1;

        Hold(Lease lease) {
            this.lease = lease;
        }
    }

    ReentrantLeasedLock(DistributedLock lock) {
        this.lock = Objects.requireNonNull(lock, "lock");
    }

    @Override
    public void lock() {
        if (!again()) {
            holds.set(new Hold(uninterruptibly(lock.acquireAsync())));
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        if (!again()) {
            holds.set(new Hold(lock.acquire()));
        }
    }

    @Override
    public boolean tryLock() {
        return again() || take(uninterruptibly(lock.tryAcquireAsync(Duration.ZERO)));
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return again() || take(lock.tryAcquire(Duration.ofNanos(unit.toNanos(time))));
    }

    @Override
    public void unlock() {
        Hold hold = holds.get();
        if (hold == null) {
            throw new IllegalMonitorStateException("The lock " + lock.name() + " is not held by the thread "
                    + Thread.currentThread().getName() + "; only the thread that locked it can unlock it.");
        }
        hold.count--;
        if (hold.count == 0) {
            holds.remove();
            hold.lease.close();
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A distributed lock has no conditions.");
    }

    @Override
    public Optional<Lease> currentLease() {
        Hold hold = holds.get();
        return hold == null ? Optional.empty() : Optional.of(hold.lease);
    }

    @Override
    public int holdCount() {
        Hold hold = holds.get();
        return hold == null ? 0 : hold.count;
    }

    @Override
    public String toString() {
        return "LeasedLock[" + lock.name() + "]";
    }

    private boolean again() {
        Hold hold = holds.get();
        if (hold == null) {
            return false;
        }
        hold.lease.ensureHeld();
        hold.count = Math.addExact(hold.count, 1);
        return true;
    }

    private boolean take(Optional<Lease> lease) {
        lease.ifPresent(granted -> holds.set(new Hold(granted)));
        return lease.isPresent();
    }

    private static <T> T uninterruptibly(CompletableFuture<T> future) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return future.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (IllegalStateException e) {
            // The clock is a test's, and nobody moves it: nobody will take the lease.
            future.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LockException failure) {
                throw failure;
            }
            throw new CompletionException(e.getCause());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
