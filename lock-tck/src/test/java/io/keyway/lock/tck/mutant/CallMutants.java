// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.reference.ReferenceFaults;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

/** Defects in how a call of acquire ends. */
final class CallMutants {

    static final List<Mutant> ALL = List.of(
            lock("26", "false-and-held", "an acquire that had to wait says no, and holds", "LK-402", Liar::new),
            lock("27", "interrupt-swallowed", "an interrupt does not end an acquire", "LK-403", Tireless::new),
            lock(
                    "27b",
                    "interrupted-and-held",
                    "an acquire that is interrupted goes on behind the exception",
                    "LK-403",
                    Ghost::new),
            lock(
                    "99",
                    "interrupt-unheard-in-silence",
                    "an interrupt does not end an acquire while the store does not answer",
                    "LK-403",
                    Deaf::new),
            lock(
                    "168",
                    "ages-overflow",
                    "an acquire with a maxHold of more than 292 years takes the lock and never returns",
                    "LK-315",
                    Overflowing::new),
            lock("28", "no-wait-waits", "a wait of zero or less lasts forever", "LK-409", Endless::new),
            Mutant.client(
                    "55",
                    "permits-overdrawn",
                    "more permits out than there are is told as a negative number",
                    "LK-1306",
                    Overdrawn::new));

    private CallMutants() {}

    @FunctionalInterface
    private interface Alteration {
        DistributedLock of(AlteredClient client, DistributedLock lock);
    }

    private static Mutant lock(String number, String name, String defect, String rule, Alteration alteration) {
        return Mutant.client(number, name, defect, rule, (client, clock) -> new Client(client, alteration));
    }

    private static final class Client extends AlteredClient {
        private final Alteration alteration;

        Client(LockClient to, Alteration alteration) {
            super(to, lease -> lease);
            this.alteration = alteration;
        }

        @Override
        DistributedLock altered(DistributedLock lock) {
            return alteration.of(this, lock);
        }
    }

    private static final class Liar extends AlteredClient.Lock {
        Liar(AlteredClient client, DistributedLock to) {
            client.super(to);
        }

        @Override
        public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
            Optional<Lease> atOnce = super.tryAcquire();
            if (atOnce.isEmpty()) {
                super.tryAcquire(wait);
            }
            return atOnce;
        }
    }

    private static final class Tireless extends AlteredClient.Lock {
        Tireless(AlteredClient client, DistributedLock to) {
            client.super(to);
        }

        @Override
        public Lease acquire() throws InterruptedException {
            while (true) {
                try {
                    return super.acquire();
                } catch (InterruptedException e) {
                    // Swallowed: that is the defect.
                }
            }
        }
    }

    private static final class Deaf extends AlteredClient.Lock {
        private final ReferenceFaults faults;

        Deaf(AlteredClient client, DistributedLock to) {
            client.super(to);
            faults = client.unwrap(ReferenceFaults.class);
        }

        @Override
        public Lease acquire() throws InterruptedException {
            CompletableFuture<Lease> lease = super.acquireAsync();
            while (true) {
                try {
                    return lease.get();
                } catch (InterruptedException e) {
                    if (faults.isWhole()) {
                        lease.cancel(false);
                        throw e;
                    }
                } catch (ExecutionException e) {
                    throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
                }
            }
        }
    }

    private static final class Ghost extends AlteredClient.Lock {
        Ghost(AlteredClient client, DistributedLock to) {
            client.super(to);
        }

        @Override
        public Lease acquire() throws InterruptedException {
            try {
                return super.acquire();
            } catch (InterruptedException e) {
                var unused = super.acquireAsync();
                throw e;
            }
        }
    }

    private static final class Overflowing extends AlteredClient.Lock {
        private final AlteredClient client;
        private final boolean overflows;

        Overflowing(AlteredClient client, DistributedLock to) {
            this(client, to, false);
        }

        private Overflowing(AlteredClient client, DistributedLock to, boolean overflows) {
            client.super(to);
            this.client = client;
            this.overflows = overflows;
        }

        @Override
        public DistributedLock with(LockOptions options) {
            boolean ages = options.maxHold()
                    .filter(limit -> limit.compareTo(Duration.ofNanos(Long.MAX_VALUE)) > 0)
                    .isPresent();
            return new Overflowing(client, super.with(options), ages);
        }

        @Override
        public Lease acquire() throws InterruptedException {
            Lease lease = super.acquire();
            if (overflows) {
                new CountDownLatch(1).await();
            }
            return lease;
        }
    }

    private static final class Endless extends AlteredClient.Lock {
        Endless(AlteredClient client, DistributedLock to) {
            client.super(to);
        }

        @Override
        public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
            return wait.isZero() || wait.isNegative() ? Optional.of(super.acquire()) : super.tryAcquire(wait);
        }
    }

    private static final class Overdrawn extends AlteredClient {
        Overdrawn(LockClient to, TimeSource clock) {
            super(to, lease -> lease);
        }

        @Override
        DistributedSemaphore altered(DistributedSemaphore semaphore) {
            return new Semaphore(semaphore) {
                @Override
                public int availablePermits() throws InterruptedException {
                    int available = super.availablePermits();
                    return available == 0 ? -1 : available;
                }
            };
        }
    }
}
