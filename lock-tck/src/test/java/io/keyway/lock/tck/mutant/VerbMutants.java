// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** Defects of a verb that only a lost message or a second request of one client brings to light. */
final class VerbMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store(
                    "71",
                    "repeat-extends-nothing",
                    "an attempt that is repeated is told its grant, whose term does not begin anew",
                    "LK-1501",
                    Stale::new),
            Mutant.store(
                    "72",
                    "withdrawal-forgotten",
                    "an attempt that arrives after the withdrawal of its request is granted",
                    "LK-1502",
                    (clock, tokensAbove) -> new Forgetful(clock, tokensAbove, 0)),
            Mutant.store(
                    "72b",
                    "a-hundred-withdrawals",
                    "the store remembers the last hundred withdrawn requests",
                    "LK-1502",
                    (clock, tokensAbove) -> new Forgetful(clock, tokensAbove, 100)),
            Mutant.backend(
                    "75",
                    "attempt-waits",
                    "an attempt that finds the lock taken waits for a while, and tries again",
                    "LK-1504",
                    Lingering::new),
            Mutant.store(
                    "73",
                    "withdrawal-of-all",
                    "a withdrawal takes all waiters of its client out of the queue",
                    "LK-1502",
                    Thorough::new),
            Mutant.store(
                    "74",
                    "term-of-the-queue",
                    "the term of a grant that had to wait runs from the attempt before",
                    "LK-502",
                    Inheriting::new));

    private VerbMutants() {}

    private static final class Stale extends ReferenceStore {
        private final Map<Request, Long> terms = new ConcurrentHashMap<>();
        private final ThreadLocal<Boolean> attempting = ThreadLocal.withInitial(() -> false);

        Stale(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            attempting.set(true);
            try {
                Attempt result = super.attempt(session, request);
                if (!(result instanceof Attempt.Granted)) {
                    // The rules asked for the term of a grant that has not come.
                    terms.remove(request);
                }
                return result;
            } finally {
                attempting.set(false);
            }
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            long term = super.expiry(request, holds, now);
            if (!holds) {
                return term;
            }
            if (attempting.get()) {
                return terms.computeIfAbsent(request, first -> term);
            }
            terms.put(request, term);
            return term;
        }
    }

    private static final class Forgetful extends ReferenceStore {
        private static final long AGAIN = 1L << 50;

        private final Set<Request> withdrawn = ConcurrentHashMap.newKeySet();
        private final Queue<Request> remembered = new ConcurrentLinkedQueue<>();
        private final int most;

        Forgetful(LongSupplier clock, long tokensAbove, int most) {
            super(clock, tokensAbove);
            this.most = most;
        }

        @Override
        public void withdraw(Session session, Request request) {
            remembered.add(request);
            if (remembered.size() > most) {
                withdrawn.add(remembered.remove());
            }
            super.withdraw(session, request);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            if (!withdrawn.contains(request)) {
                return super.attempt(session, request);
            }
            return super.attempt(session, AlteredRequests.withId(request, request.id() + AGAIN));
        }
    }

    private static final class Thorough extends ReferenceStore {
        private final Map<Session, Set<Request>> waiting = new ConcurrentHashMap<>();

        Thorough(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            Set<Request> own = waiting.computeIfAbsent(session, first -> ConcurrentHashMap.newKeySet());
            Attempt result = super.attempt(session, request);
            if (result instanceof Attempt.Waiting) {
                own.add(request);
            } else {
                own.remove(request);
            }
            return result;
        }

        @Override
        public void withdraw(Session session, Request request) {
            super.withdraw(session, request);
            Set<Request> own = waiting.getOrDefault(session, Set.of());
            for (Request other : own) {
                if (other.key().equals(request.key())) {
                    super.withdraw(session, other);
                }
            }
        }
    }

    private static final class Inheriting extends ReferenceStore {
        private final Map<Request, Long> places = new ConcurrentHashMap<>();

        Inheriting(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            if (holds) {
                Long place = places.remove(request);
                return place == null ? super.expiry(request, true, now) : place;
            }
            places.put(request, super.expiry(request, true, now));
            return super.expiry(request, false, now);
        }
    }

    private static final class Lingering extends ReferenceBackend {
        Lingering(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            Attempt first = super.attempt(request, limit);
            if (!(first instanceof Attempt.Waiting)) {
                return first;
            }
            LockSupport.parkNanos(300_000_000);
            return super.attempt(request, limit);
        }
    }
}
