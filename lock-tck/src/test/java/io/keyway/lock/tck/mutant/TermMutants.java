// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockOptions;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** Defects in how long the store keeps what it is not told of. */
final class TermMutants {

    private static final long SECOND = 1_000_000_000;
    private static final long FOR_EVER = Duration.ofDays(365).toNanos();

    static final List<Mutant> ALL = List.of(
            // The one rule that bounds how late a grant may end: no later than that of a client that has died.
            Mutant.store(
                    "10",
                    "never-expires",
                    "a grant ends by its release only",
                    "LK-513",
                    lasting((ttl, request, holds) -> holds ? FOR_EVER : ttl)),
            Mutant.store(
                    "11",
                    "expires-at-half",
                    "a grant ends a little before half of its ttl",
                    "LK-502", // Not at the half itself: the client renews at that very moment, and which comes first
                    // would be chance.
                    lasting((ttl, request, holds) -> holds ? ttl / 20 * 9 : ttl)),
            Mutant.store(
                    "11b",
                    "expires-early",
                    "a grant ends after two thirds of its ttl",
                    "LK-502",
                    lasting((ttl, request, holds) -> holds ? ttl / 3 * 2 : ttl)),
            Mutant.store(
                    "11c",
                    "renewal-extends-nothing",
                    "a renewal is confirmed and extends nothing",
                    "LK-506",
                    Deaf::new),
            Mutant.store(
                    "31",
                    "permits-of-the-dead",
                    "the permits of a silent holder never come back",
                    "LK-513",
                    lasting((ttl, request, holds) -> holds && request.mode() == LockMode.PERMITS ? FOR_EVER : ttl)),
            Mutant.store(
                    "44",
                    "waiters-of-the-dead",
                    "a waiter that is not heard of keeps its place",
                    "LK-410",
                    lasting((ttl, request, holds) -> holds ? ttl : FOR_EVER)),
            Mutant.store(
                    "83",
                    "term-capped",
                    "no grant lasts longer than 10 s",
                    "LK-502",
                    lasting((ttl, request, holds) -> Math.min(ttl, 10 * SECOND))),
            Mutant.store(
                    "83b",
                    "term-raised",
                    "no grant ends before 30 s",
                    "LK-513",
                    lasting((ttl, request, holds) -> Math.max(ttl, 30 * SECOND))),
            Mutant.store(
                    "84",
                    "term-rounded",
                    "terms are rounded to whole seconds",
                    "LK-502",
                    lasting((ttl, request, holds) -> (ttl + SECOND / 2) / SECOND * SECOND)),
            Mutant.store(
                    "84b",
                    "term-with-a-reserve",
                    "a grant ends after 9/10 of its ttl",
                    "LK-502",
                    lasting((ttl, request, holds) -> ttl / 10 * 9)),
            Mutant.store(
                    "84c",
                    "term-half-again",
                    "a grant lasts half as long again as its ttl",
                    "LK-309",
                    lasting((ttl, request, holds) -> holds ? ttl / 2 * 3 : ttl)),
            Mutant.store(
                    "84d",
                    "term-rounded-up",
                    "terms are rounded up to the next whole second",
                    "LK-309",
                    lasting((ttl, request, holds) -> holds ? (ttl / SECOND + 1) * SECOND : ttl)),
            Mutant.store(
                    "84e",
                    "term-capped-at-a-minute",
                    "no grant lasts longer than a minute",
                    "LK-502",
                    lasting((ttl, request, holds) -> Math.min(ttl, 60 * SECOND))),
            Mutant.store(
                    "84f",
                    "place-of-a-second",
                    "a waiter is told to ask again within a quarter of its ttl, and loses its place after a second",
                    "LK-310",
                    lasting((ttl, request, holds) -> holds ? ttl : Math.min(ttl, SECOND))),
            Mutant.store(
                    "84g",
                    "term-of-the-first",
                    "all grants of a lock have the ttl of its first one",
                    "LK-309",
                    TermMutants::lastingAsTheFirst),
            Mutant.backend(
                    "85",
                    "shortest-term-unheard-of",
                    "a ttl of 1 ms is said to be granted",
                    "LK-309",
                    (world, time, features, trouble) ->
                            new Promising(world, time, features, trouble, Duration.ofMillis(1), Duration.ofHours(1))),
            Mutant.backend(
                    "85b",
                    "longest-term-unheard-of",
                    "a ttl of a thousand years is said to be granted",
                    "LK-309",
                    (world, time, features, trouble) -> new Promising(
                            world, time, features, trouble, LockOptions.MIN_TTL, Duration.ofDays(365_000))));

    private TermMutants() {}

    /** How long the store keeps one that it has just heard of, in nanoseconds. */
    @FunctionalInterface
    private interface Term {
        long nanos(long ttl, Request request, boolean holds);
    }

    private static Mutant.StoreMaker lasting(Term term) {
        return (clock, tokensAbove) -> new Lasting(clock, tokensAbove, term);
    }

    private static ReferenceStore lastingAsTheFirst(LongSupplier clock, long tokensAbove) {
        Map<LockKey, Long> first = new ConcurrentHashMap<>();
        Term term = (ttl, request, holds) -> holds ? first.computeIfAbsent(request.key(), key -> ttl) : ttl;
        return new Lasting(clock, tokensAbove, term);
    }

    private static final class Lasting extends ReferenceStore {
        private final Term term;

        Lasting(LongSupplier clock, long tokensAbove, Term term) {
            super(clock, tokensAbove);
            this.term = term;
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return now + term.nanos(request.ttl().toNanos(), request, holds);
        }
    }

    private static final class Deaf extends ReferenceStore {
        Deaf(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Answer renew(Session session, Grant grant) {
            return Answer.DONE;
        }
    }

    private static final class Promising extends ReferenceBackend {
        private final Duration least;
        private final Duration most;

        Promising(
                ReferenceWorld world,
                TimeSource time,
                Set<Feature> features,
                String trouble,
                Duration least,
                Duration most) {
            super(world, time, features, trouble);
            this.least = least;
            this.most = most;
        }

        @Override
        public Guarantees guarantees() {
            Guarantees kept = super.guarantees();
            return new Guarantees(kept.exclusion(), kept.belief(), kept.tokens(), kept.failover(), least, most);
        }
    }
}
