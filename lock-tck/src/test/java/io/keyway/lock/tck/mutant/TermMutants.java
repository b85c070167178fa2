// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockOptions;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.tck.reference.ReferenceBackend;
import io.keyway.lock.tck.reference.ReferenceStore;
import io.keyway.lock.tck.reference.ReferenceWorld;
import io.keyway.lock.tck.reference.Session;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/** Defects in how long the store keeps what it is not told of. */
final class TermMutants {

    private static final long FOR_EVER = Duration.ofDays(365).toNanos();

    static final List<Mutant> ALL = List.of(
            // The one rule that bounds how late a grant may end: no later than that of a client that has died.
            Mutant.store("10", "never-expires", "a grant ends by its release only", "LK-513", Immortal::new),
            Mutant.store(
                    "11", "expires-at-half", "a grant ends a little before half of its ttl", "LK-502", Impatient::new),
            Mutant.store("11b", "expires-early", "a grant ends after two thirds of its ttl", "LK-502", Hurried::new),
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
                    Hoarder::new),
            Mutant.store(
                    "44", "waiters-of-the-dead", "a waiter that is not heard of keeps its place", "LK-410", Loyal::new),
            Mutant.store("83", "term-capped", "no grant lasts longer than 10 s", "LK-502", Capped::new),
            Mutant.store("83b", "term-raised", "no grant ends before 30 s", "LK-513", Raised::new),
            Mutant.store("84", "term-rounded", "terms are rounded to whole seconds", "LK-502", Rounded::new),
            Mutant.store("84b", "term-with-a-reserve", "a grant ends after 9/10 of its ttl", "LK-502", Reserved::new),
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

    private static final class Immortal extends ReferenceStore {
        Immortal(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return holds ? now + FOR_EVER : super.expiry(request, false, now);
        }
    }

    private static final class Impatient extends ReferenceStore {
        Impatient(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            // Not at the half itself: the client renews at that very moment, and which comes first would be chance.
            return holds ? now + request.ttl().toNanos() / 20 * 9 : super.expiry(request, false, now);
        }
    }

    private static final class Hurried extends ReferenceStore {
        Hurried(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return holds ? now + request.ttl().toNanos() / 3 * 2 : super.expiry(request, false, now);
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

    private static final class Hoarder extends ReferenceStore {
        Hoarder(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return holds && request.mode() == LockMode.PERMITS ? now + FOR_EVER : super.expiry(request, holds, now);
        }
    }

    private static final class Loyal extends ReferenceStore {
        Loyal(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return holds ? super.expiry(request, true, now) : now + FOR_EVER;
        }
    }

    private static final class Capped extends ReferenceStore {
        Capped(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return Math.min(
                    super.expiry(request, holds, now),
                    now + Duration.ofSeconds(10).toNanos());
        }
    }

    private static final class Raised extends ReferenceStore {
        Raised(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return Math.max(
                    super.expiry(request, holds, now),
                    now + Duration.ofSeconds(30).toNanos());
        }
    }

    private static final class Rounded extends ReferenceStore {
        Rounded(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return now
                    + Duration.ofSeconds(request.ttl().plusMillis(500).toSeconds())
                            .toNanos();
        }
    }

    private static final class Reserved extends ReferenceStore {
        Reserved(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return now + request.ttl().toNanos() / 10 * 9;
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
