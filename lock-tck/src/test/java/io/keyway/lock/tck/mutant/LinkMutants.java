// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** Defects of a backend whose attempt takes several steps, or that hears of its turn by messages. */
final class LinkMutants {

    static final List<Mutant> ALL = List.of(
            new Mutant(
                    "171",
                    "told-turn-has-no-age",
                    "a grant that is told unasked is said to be as old as the word, though its term began before",
                    "LK-501",
                    Inheriting::new,
                    Telling::new,
                    (client, clock) -> client),
            Mutant.backend(
                    "172",
                    "loser-of-a-race-stays",
                    "an attempt that does not queue looks first, and stays in the queue if another was faster",
                    "LK-305",
                    Slow::new),
            Mutant.backend(
                    "174",
                    "all-steps-not-executed",
                    "whichever step of an attempt fails is told as surely not executed",
                    "LK-1503",
                    Stepwise::new),
            Mutant.backend(
                    "175",
                    "deaf-after-a-reconnect",
                    "a client whose connection broke once is told of nothing any more",
                    "LK-411",
                    Deaf::new));

    private LinkMutants() {}

    /** What is granted by a word of its own has the term of the last attempt of its place. */
    private static final class Inheriting extends ReferenceStore {
        private final Map<Request, Long> places = new ConcurrentHashMap<>();
        private final ThreadLocal<Boolean> telling = ThreadLocal.withInitial(() -> false);

        Inheriting(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected Duration recheckWithin(Request request) {
            return request.ttl().dividedBy(4).multipliedBy(3);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            long whole = super.expiry(request, holds, now);
            if (!holds) {
                places.put(request, whole);
                return whole;
            }
            Long place = places.remove(request);
            return place != null && telling.get() ? place : whole;
        }
    }

    private static final class Telling extends ReferenceBackend {
        private final Inheriting store;
        private final Map<LockKey, Request> waiting = new ConcurrentHashMap<>();

        Telling(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
            store = (Inheriting) world.store();
        }

        @Override
        public void start(Signals signals, Incarnation client) throws NotExecutedException {
            super.start(
                    new ForwardingSignals(signals) {
                        @Override
                        public void recheck(LockKey key) {
                            Request waits = waiting.get(key);
                            if (waits == null) {
                                super.recheck(key);
                            } else {
                                granted(waits, () -> word(waits));
                            }
                        }
                    },
                    client);
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            waiting.remove(request.key(), request);
            Attempt result = super.attempt(request, limit);
            if (result instanceof Attempt.Waiting && request.queue()) {
                waiting.put(request.key(), request);
            }
            return result;
        }

        private Optional<Attempt.Granted> word(Request request) {
            store.telling.set(true);
            try {
                return store.attempt(session(), request) instanceof Attempt.Granted granted
                        ? Optional.of(granted)
                        : Optional.empty();
            } catch (NotExecutedException e) {
                return Optional.empty();
            } finally {
                store.telling.set(false);
            }
        }
    }

    private static final class Slow extends ReferenceBackend {
        private static final long WINDOW = 10_000_000;

        Slow(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            boolean plain = request.mode() == LockMode.EXCLUSIVE && features().contains(Feature.LIST);
            if (request.queue() || !plain || show(request.key(), limit).isPresent()) {
                return super.attempt(request, limit);
            }
            // Until another is faster. A thread that waited would let the clock of the kit go on.
            long end = System.nanoTime() + WINDOW;
            while (System.nanoTime() - end < 0 && show(request.key(), limit).isEmpty()) {
                Thread.onSpinWait();
            }
            return super.attempt(AlteredRequests.queued(request), limit);
        }
    }

    private static final class Stepwise extends ReferenceBackend {
        Stepwise(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public Attempt attempt(Request request, Duration limit) throws Exception {
            try {
                show(request.key(), limit);
                show(request.key(), limit);
                return super.attempt(request, limit);
            } catch (IOException e) {
                throw new NotExecutedException("no answer", e);
            }
        }
    }

    private static final class Deaf extends ReferenceBackend {
        private volatile boolean deaf;

        Deaf(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public void start(Signals signals, Incarnation client) throws NotExecutedException {
            super.start(
                    new ForwardingSignals(signals) {
                        @Override
                        public void recheck(LockKey key) {
                            if (!deaf) {
                                super.recheck(key);
                            }
                        }
                    },
                    client);
        }

        @Override
        protected void connectionBroken() {
            deaf = true;
        }
    }
}
