// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockedAction;
import io.keyway.lock.LockedFunction;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.wrap.ForwardingClient;
import io.keyway.lock.tck.wrap.ForwardingLease;
import io.keyway.lock.tck.wrap.ForwardingLock;
import io.keyway.lock.tck.wrap.ForwardingReadWriteLock;
import io.keyway.lock.tck.wrap.ForwardingSemaphore;
import io.keyway.lock.tck.wrap.LeaseFutures;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A client whose requests and leases are written down. */
final class RecordingClient extends ForwardingClient {
    private final Recorder recorder;
    private final String who;

    RecordingClient(Recorder recorder, String who, LockClient to) {
        super(to);
        this.recorder = recorder;
        this.who = who;
    }

    @Override
    public DistributedLock lock(LockName name) {
        return new RecordingLock(super.lock(name), LockMode.EXCLUSIVE);
    }

    @Override
    public DistributedReadWriteLock readWriteLock(LockName name) {
        return new RecordingReadWriteLock(super.readWriteLock(name));
    }

    @Override
    public DistributedSemaphore semaphore(LockName name, Capacity capacity) {
        return new RecordingSemaphore(super.semaphore(name, capacity), capacity);
    }

    private RecordedHold asked(LockKey key, LockMode mode, int permits, int capacity) {
        return recorder.asked(who, key, mode, permits, capacity);
    }

    private static Lease bare(Lease lease) {
        return lease instanceof ForwardingLease recorded ? recorded.to() : lease;
    }

    private final class RecordingLock extends ForwardingLock {
        private final LockMode mode;

        RecordingLock(DistributedLock to, LockMode mode) {
            super(to);
            this.mode = mode;
        }

        @Override
        protected DistributedLock around(DistributedLock other) {
            return new RecordingLock(other, mode);
        }

        private RecordedHold asked() {
            return RecordingClient.this.asked(LockKey.lock(name()), mode, 1, 1);
        }

        @Override
        public Lease acquire() throws InterruptedException {
            RecordedHold hold = asked();
            return recorder.granted(hold, super.acquire());
        }

        @Override
        public Optional<Lease> tryAcquire() throws InterruptedException {
            RecordedHold hold = asked();
            return super.tryAcquire().map(lease -> recorder.granted(hold, lease));
        }

        @Override
        public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
            RecordedHold hold = asked();
            return super.tryAcquire(wait).map(lease -> recorder.granted(hold, lease));
        }

        @Override
        public CompletableFuture<Lease> acquireAsync() {
            RecordedHold hold = asked();
            return LeaseFutures.lease(super.acquireAsync(), lease -> recorder.granted(hold, lease));
        }

        @Override
        public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
            RecordedHold hold = asked();
            return LeaseFutures.found(super.tryAcquireAsync(wait), lease -> recorder.granted(hold, lease));
        }

        @Override
        public <T, X extends Exception> T callLocked(LockedFunction<T, X> work) throws X, InterruptedException {
            RecordedHold hold = asked();
            return to().callLocked(lease -> recorder.during(hold, lease, work));
        }

        @Override
        public <X extends Exception> boolean tryRunLocked(Duration wait, LockedAction<X> work)
                throws X, InterruptedException {
            RecordedHold hold = asked();
            return to().tryRunLocked(
                            wait,
                            lease -> recorder.during(hold, lease, held -> {
                                work.run(held);
                                return true;
                            }));
        }
    }

    private final class RecordingReadWriteLock extends ForwardingReadWriteLock {
        RecordingReadWriteLock(DistributedReadWriteLock to) {
            super(to);
        }

        @Override
        public DistributedLock read() {
            return new RecordingLock(super.read(), LockMode.SHARED);
        }

        @Override
        public DistributedLock write() {
            return new RecordingLock(super.write(), LockMode.EXCLUSIVE);
        }

        @Override
        public Optional<Lease> tryUpgrade(Lease read, Duration wait) throws InterruptedException {
            RecordedHold hold = asked(LockKey.lock(name()), LockMode.EXCLUSIVE, 1, 1);
            return super.tryUpgrade(bare(read), wait).map(lease -> recorder.granted(hold, lease));
        }

        @Override
        public Lease downgrade(Lease write) {
            RecordedHold hold = asked(LockKey.lock(name()), LockMode.SHARED, 1, 1);
            return recorder.granted(hold, super.downgrade(bare(write)));
        }
    }

    private final class RecordingSemaphore extends ForwardingSemaphore {
        private final Capacity capacity;

        RecordingSemaphore(DistributedSemaphore to, Capacity capacity) {
            super(to);
            this.capacity = capacity;
        }

        @Override
        protected DistributedSemaphore around(DistributedSemaphore other) {
            return new RecordingSemaphore(other, capacity);
        }

        private RecordedHold asked(int permits) {
            return RecordingClient.this.asked(LockKey.semaphore(name()), LockMode.PERMITS, permits, capacity.current());
        }

        private Lease granted(RecordedHold hold, Lease lease) {
            hold.stated(capacity.current());
            return recorder.granted(hold, lease);
        }

        @Override
        public Lease acquire(int permits) throws InterruptedException {
            RecordedHold hold = asked(permits);
            return granted(hold, super.acquire(permits));
        }

        @Override
        public Optional<Lease> tryAcquire(int permits) throws InterruptedException {
            RecordedHold hold = asked(permits);
            return super.tryAcquire(permits).map(lease -> granted(hold, lease));
        }

        @Override
        public Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException {
            RecordedHold hold = asked(permits);
            return super.tryAcquire(permits, wait).map(lease -> granted(hold, lease));
        }

        @Override
        public CompletableFuture<Lease> acquireAsync(int permits) {
            RecordedHold hold = asked(permits);
            return LeaseFutures.lease(super.acquireAsync(permits), lease -> granted(hold, lease));
        }

        @Override
        public CompletableFuture<Optional<Lease>> tryAcquireAsync(int permits, Duration wait) {
            RecordedHold hold = asked(permits);
            return LeaseFutures.found(super.tryAcquireAsync(permits, wait), lease -> granted(hold, lease));
        }

        @Override
        public <T, X extends Exception> T callLocked(int permits, LockedFunction<T, X> work)
                throws X, InterruptedException {
            RecordedHold hold = asked(permits);
            return to().callLocked(permits, lease -> {
                hold.stated(capacity.current());
                return recorder.during(hold, lease, work);
            });
        }

        @Override
        public <X extends Exception> boolean tryRunLocked(int permits, Duration wait, LockedAction<X> work)
                throws X, InterruptedException {
            RecordedHold hold = asked(permits);
            return to().tryRunLocked(permits, wait, lease -> {
                hold.stated(capacity.current());
                recorder.during(hold, lease, held -> {
                    work.run(held);
                    return true;
                });
            });
        }
    }

    /** A lease whose answers are written down. */
    static final class RecordingLease extends ForwardingLease {
        private final Recorder recorder;
        private final RecordedHold hold;

        RecordingLease(Recorder recorder, RecordedHold hold, Lease to) {
            super(to);
            this.recorder = recorder;
            this.hold = hold;
        }

        RecordedHold hold() {
            return hold;
        }

        boolean isOver() {
            return hold.isReleasing() || !hold.losses().isEmpty();
        }

        @Override
        public boolean isHeld() {
            long before = recorder.now();
            long remaining = to().remaining().toNanos();
            boolean held = to().isHeld();
            recorder.answered(hold, new HeldAnswer(held, before, recorder.now(), remaining));
            return held;
        }

        @Override
        public ReleaseOutcome release() {
            beforeRelease();
            ReleaseOutcome outcome = to().release();
            recorder.released(hold, outcome);
            return outcome;
        }

        @Override
        public CompletionStage<ReleaseOutcome> releaseAsync() {
            beforeRelease();
            return to().releaseAsync().whenComplete((outcome, failure) -> {
                if (outcome != null) {
                    recorder.released(hold, outcome);
                }
            });
        }

        @Override
        public void close() {
            beforeRelease();
            to().close();
        }

        private void beforeRelease() {
            if (!hold.isReleasing()) {
                isHeld();
            }
            recorder.releasing(hold);
        }
    }
}
