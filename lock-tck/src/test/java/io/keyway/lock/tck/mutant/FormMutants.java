// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockListener;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Subscription;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.tck.wrap.ForwardingClient;
import io.keyway.lock.tck.wrap.ForwardingLease;
import io.keyway.lock.tck.wrap.ForwardingLock;
import io.keyway.lock.tck.wrap.ForwardingReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Defects of one form of lock, or one kind of event, where the others are right. */
final class FormMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.client(
                    "62",
                    "read-waits-for-ever",
                    "a read lock takes no notice of its time limit",
                    "LK-401",
                    (client, clock) -> new Patient(client)),
            Mutant.client(
                    "63",
                    "permits-without-max-hold",
                    "a semaphore takes no notice of maxHold",
                    "LK-512",
                    (client, clock) -> new Forgetful(client)),
            Mutant.client(
                    "64",
                    "loss-of-permits-not-told",
                    "the loss of permits is told to nobody",
                    "LK-512",
                    (client, clock) -> new AlteredClient(
                            client, lease -> lease.mode() == LockMode.PERMITS ? new Silent(lease) : lease)),
            Mutant.client("65", "doubt-not-told", "listeners are told of no doubt", "LK-902", Sure::new),
            Mutant.client(
                    "66",
                    "withdrawal-not-told",
                    "listeners are not told of a request that was given up",
                    "LK-902",
                    Discreet::new));

    private FormMutants() {}

    private static final class Patient extends ForwardingClient {
        Patient(LockClient to) {
            super(to);
        }

        @Override
        public DistributedReadWriteLock readWriteLock(LockName name) {
            return new ForwardingReadWriteLock(super.readWriteLock(name)) {
                @Override
                public DistributedLock read() {
                    return new PatientRead(super.read());
                }
            };
        }
    }

    private static final class PatientRead extends ForwardingLock {
        PatientRead(DistributedLock to) {
            super(to);
        }

        @Override
        protected DistributedLock around(DistributedLock other) {
            return new PatientRead(other);
        }

        @Override
        public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
            return Optional.of(super.acquire());
        }
    }

    private static final class Forgetful extends AlteredClient {
        Forgetful(LockClient to) {
            super(to, lease -> lease);
        }

        @Override
        DistributedSemaphore altered(DistributedSemaphore semaphore) {
            return new Semaphore(semaphore) {
                @Override
                public DistributedSemaphore with(LockOptions options) {
                    return options.maxHold().isPresent() ? this : super.with(options);
                }
            };
        }
    }

    private static final class Silent extends ForwardingLease {
        Silent(Lease to) {
            super(to);
        }

        @Override
        public CompletionStage<LeaseLoss> lost() {
            return new CompletableFuture<LeaseLoss>().minimalCompletionStage();
        }
    }

    /** Keeps some events to itself. */
    private abstract static class Reticent extends ForwardingClient {
        private final Set<LockEvent.Type> untold;

        Reticent(LockClient to, Set<LockEvent.Type> untold) {
            super(to);
            this.untold = untold;
        }

        @Override
        public Subscription addListener(LockListener listener) {
            return super.addListener(event -> {
                if (!untold.contains(event.type())) {
                    listener.onEvent(event);
                }
            });
        }
    }

    private static final class Sure extends Reticent {
        Sure(LockClient to, TimeSource clock) {
            super(to, Set.of(LockEvent.Type.DOUBTFUL, LockEvent.Type.RECOVERED));
        }
    }

    private static final class Discreet extends Reticent {
        Discreet(LockClient to, TimeSource clock) {
            super(to, Set.of(LockEvent.Type.WITHDRAWN));
        }
    }
}
