// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A lock of this JVM without time: leases end when they are released, or when a test says so. First come, first served.
 */
final class HeapLock implements DistributedLock {
    private final Deque<CompletableFuture<Lease>> waiters = new ArrayDeque<>();
    private HeapLease holder;
    private long tokens;

    /** Ends the current lease, as the store would. */
    void lose() {
        HeapLease lost;
        synchronized (this) {
            lost = holder;
        }
        lost.end(Lease.State.LOST);
    }

    synchronized int waiting() {
        return (int) waiters.stream().filter(waiter -> !waiter.isDone()).count();
    }

    synchronized boolean isHeld() {
        return holder != null;
    }

    @Override
    public LockName name() {
        return LockName.of("heap");
    }

    @Override
    public DistributedLock with(LockOptions options) {
        return this;
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        CompletableFuture<Lease> request = new CompletableFuture<>();
        synchronized (this) {
            waiters.add(request);
        }
        grant();
        return request;
    }

    @Override
    public Lease acquire() throws InterruptedException {
        CompletableFuture<Lease> request = acquireAsync();
        try {
            return request.get();
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            withdraw(request);
            throw e;
        }
    }

    @Override
    public Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(Duration.ZERO);
    }

    @Override
    public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        CompletableFuture<Lease> request = acquireAsync();
        try {
            return Optional.of(request.get(Math.max(0, wait.toMillis()), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            withdraw(request);
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        try {
            return CompletableFuture.completedFuture(tryAcquire(wait));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void withdraw(CompletableFuture<Lease> request) {
        if (!request.cancel(false)) {
            request.join().close();
        }
    }

    private void grant() {
        while (true) {
            CompletableFuture<Lease> next;
            HeapLease lease;
            synchronized (this) {
                if (holder != null || waiters.isEmpty()) {
                    return;
                }
                next = waiters.remove();
                lease = new HeapLease(++tokens);
                holder = lease;
            }
            if (next.complete(lease)) {
                return;
            }
            synchronized (this) {
                holder = null;
            }
        }
    }

    private final class HeapLease implements Lease {
        private final long token;
        private final CompletableFuture<LeaseLoss> lost = new CompletableFuture<>();
        private volatile State state = State.HELD;

        HeapLease(long token) {
            this.token = token;
        }

        ReleaseOutcome end(State end) {
            synchronized (HeapLock.this) {
                if (state != State.HELD) {
                    return state == State.LOST ? ReleaseOutcome.ALREADY_LOST : ReleaseOutcome.RELEASED;
                }
                state = end;
                holder = null;
            }
            if (end == State.LOST) {
                lost.complete(loss());
            }
            grant();
            return ReleaseOutcome.RELEASED;
        }

        private LeaseLoss loss() {
            return new LeaseLoss(LeaseLoss.Cause.DENIED, Duration.ZERO, Optional.empty(), "the test said so");
        }

        @Override
        public LockName name() {
            return HeapLock.this.name();
        }

        @Override
        public LockMode mode() {
            return LockMode.EXCLUSIVE;
        }

        @Override
        public int permits() {
            return 1;
        }

        @Override
        public long token() {
            return token;
        }

        @Override
        public Duration ttl() {
            return Duration.ofSeconds(10);
        }

        @Override
        public State state() {
            return state;
        }

        @Override
        public Duration remaining() {
            return isHeld() ? ttl() : Duration.ZERO;
        }

        @Override
        public boolean isHeld() {
            return state == State.HELD;
        }

        @Override
        public void ensureHeld() {
            if (state == State.LOST) {
                throw new LeaseLostException(name(), token, loss());
            }
            if (state == State.RELEASED) {
                throw new IllegalStateException("released");
            }
        }

        @Override
        public CompletionStage<LeaseLoss> lost() {
            return lost;
        }

        @Override
        public ReleaseOutcome release() {
            return end(State.RELEASED);
        }

        @Override
        public CompletionStage<ReleaseOutcome> releaseAsync() {
            return CompletableFuture.completedFuture(release());
        }

        @Override
        public void close() {
            release();
        }
    }
}
