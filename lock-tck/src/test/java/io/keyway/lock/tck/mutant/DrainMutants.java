// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.WriterPolicy;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.tck.wrap.ForwardingLock;
import io.keyway.lock.tck.wrap.ForwardingReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Defects of writers that are to keep no reader waiting. */
final class DrainMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store("160", "soft-is-hard", "a soft writer has a place in the queue", "LK-1207", Hard::new),
            Mutant.store(
                    "161",
                    "soft-passes-the-queue",
                    "a soft writer is granted before those that queue, if it asks first",
                    "LK-1208",
                    Passes::new),
            Mutant.store(
                    "162",
                    "soft-asks-in-vain",
                    "a soft writer is granted at its first attempt or never",
                    "LK-1208",
                    InVain::new),
            Mutant.store(
                    "163",
                    "no-time-without-readers",
                    "the time without readers is not waited for",
                    "LK-1209",
                    NoTime::new),
            Mutant.store(
                    "164",
                    "readers-unseen",
                    "the time without readers is counted from the writer's request, whoever reads meanwhile",
                    "LK-1209",
                    Unseen::new),
            Mutant.store(
                    "165", "twice-the-quiet", "the time without readers is waited for twice", "LK-1209", Twice::new),
            Mutant.store(
                    "166",
                    "soft-shown-in-the-queue",
                    "a soft writer is shown in the queue",
                    "LK-1211",
                    InTheQueue::new),
            Mutant.client(
                    "167",
                    "soft-hears-nothing",
                    "a soft writer whose limit is over before its time hears that nobody answers",
                    "LK-401",
                    Silent::new));

    private DrainMutants() {}

    private static final class Hard extends ReferenceStore {
        Hard(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            return super.attempt(session, request.withQuiet(Optional.empty()));
        }
    }

    private static final class Passes extends ReferenceStore {
        Passes(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean mayDrain(Row row, @Nullable Entry waiter, Request request, Look look) {
            return row.holders().isEmpty();
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            List<Entry> soft = row.softWriters();
            return soft.isEmpty() ? super.next(row, left) : soft.get(0);
        }
    }

    private static final class InVain extends ReferenceStore {
        InVain(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean mayDrain(Row row, @Nullable Entry waiter, Request request, Look look) {
            return waiter == null && super.mayDrain(row, null, request, look);
        }
    }

    private static final class NoTime extends ReferenceStore {
        NoTime(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long quietFor(Request request) {
            return 0;
        }
    }

    private static final class Unseen extends ReferenceStore {
        Unseen(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected Row afterReader(Row row) {
            return row;
        }
    }

    private static final class Twice extends ReferenceStore {
        Twice(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long quietFor(Request request) {
            return 2 * super.quietFor(request);
        }
    }

    private static final class Silent extends AlteredClient {
        Silent(LockClient to, TimeSource clock) {
            super(to, lease -> lease);
        }

        @Override
        public DistributedReadWriteLock readWriteLock(LockName name, WriterPolicy policy) {
            return new ForwardingReadWriteLock(super.readWriteLock(name, policy)) {
                @Override
                public DistributedLock write() {
                    return new ForwardingLock(super.write()) {
                        @Override
                        protected DistributedLock around(DistributedLock other) {
                            return other;
                        }

                        @Override
                        public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
                            Optional<Lease> lease = super.tryAcquire(wait);
                            if (lease.isEmpty() && !policy.quiet().isZero()) {
                                throw new LockUnavailableException("no answer", name, null, null);
                            }
                            return lease;
                        }
                    };
                }
            };
        }
    }

    private static final class InTheQueue extends ReferenceStore {
        InTheQueue(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
            return super.show(key)
                    .map(status -> new LockStatus(
                            key,
                            status.holders(),
                            Stream.concat(status.waiters().stream(), status.softWriters().stream())
                                    .toList(),
                            status.buckets(),
                            status.softWriters()));
        }
    }
}
