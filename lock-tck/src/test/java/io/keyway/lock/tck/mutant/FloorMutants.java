// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockUrl;
import io.keyway.lock.reference.ReferenceBackend;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.ReferenceWorld;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Leftovers;
import io.keyway.lock.spi.TimeSource;
import io.keyway.lock.spi.TokenFloor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Defects in what becomes of a floor of tokens. */
final class FloorMutants {

    static final String ONE_PLACE = "one-place-for-all-runs";
    static final String NO_PLACE = "no-place-of-its-own";

    static final List<Mutant> ALL = List.of(
            Mutant.store("180", "floor-unheard", "a floor of tokens is ignored", "LK-608", Unheard::new),
            Mutant.store(
                    "181",
                    "floor-for-oneself",
                    "only clients that give a floor have tokens above it",
                    "LK-608",
                    ForOneself::new),
            Mutant.store(
                    "182", "floor-forgotten", "a restart of the store forgets the floor", "LK-608", Forgotten::new),
            Mutant.store(
                    "183",
                    "floor-too-low-accepted",
                    "a lower floor than the store's is no error",
                    "LK-609",
                    Accepted::new),
            Mutant.store(
                    "184", "floor-lowered", "the store takes the floor that was given last", "LK-609", Lowered::new),
            Mutant.store(
                    "185",
                    "floor-for-all-places",
                    "a floor that is given in the place for tests is one everywhere",
                    "LK-610",
                    Everywhere::new),
            Mutant.backend(
                    "186",
                    "floor-left-behind",
                    "what a test leaves in the place for tests is not removed",
                    "LK-610",
                    LeftBehind::new),
            Mutant.backend(
                    "187",
                    "removal-takes-all",
                    "with the place for tests goes what the URL itself has",
                    "LK-610",
                    TakesAll::new),
            Mutant.backend("188", ONE_PLACE, "all runs have one place for tests", "LK-610", ReferenceBackend::new),
            Mutant.backend(
                    "189",
                    NO_PLACE,
                    "the place for tests is that of the URL, written in another way",
                    "LK-610",
                    ReferenceBackend::new));

    /** Where a mutant of that name says that its place for tests is. */
    static LockUrl place(LockUrl url, String mutant, String word) {
        return switch (mutant) {
            case ONE_PLACE -> url.withPath("/tests");
            case NO_PLACE -> url.withOption(CommonOptions.NAME.name(), "tests-" + word);
            default -> url.withPath("/" + word);
        };
    }

    private FloorMutants() {}

    private static final class Unheard extends ReferenceStore {
        Unheard(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected void raise(Session session, TokenFloor asked) {}
    }

    private static final class ForOneself extends ReferenceStore {
        private final Map<Session, Long> floors = new HashMap<>();

        ForOneself(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected void raise(Session session, TokenFloor asked) {
            floors.put(session, asked.wanted());
        }

        @Override
        protected long nextToken(Session session, LockKey key) {
            return super.nextToken(session, key) + floors.getOrDefault(session, 0L);
        }
    }

    /** What comes above the count when a floor was given. */
    private abstract static class Added extends ReferenceStore {
        long floor;

        Added(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long nextToken(Session session, LockKey key) {
            return super.nextToken(session, key) + floor;
        }
    }

    private static final class Forgotten extends Added {
        Forgotten(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected void raise(Session session, TokenFloor asked) {
            if (asked.isAbove(floor)) {
                floor = asked.wanted();
            }
        }

        @Override
        protected void restarted() {
            floor = 0;
        }
    }

    private static final class Everywhere extends ReferenceStore {
        private static final AtomicLong FLOOR = new AtomicLong();

        Everywhere(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected void raise(Session session, TokenFloor asked) {
            FLOOR.accumulateAndGet(asked.wanted(), Math::max);
        }

        @Override
        protected long nextToken(Session session, LockKey key) {
            return super.nextToken(session, key) + FLOOR.get();
        }
    }

    private static final class LeftBehind extends ReferenceBackend {
        LeftBehind(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
        }

        @Override
        public <T> Optional<T> unwrap(Class<T> type) {
            Leftovers nothing = limit -> {};
            return type == Leftovers.class ? Optional.of(type.cast(nothing)) : super.unwrap(type);
        }
    }

    private static final class TakesAll extends ReferenceBackend {
        private static final Queue<TakesAll> ALL_OF_THEM = new ConcurrentLinkedQueue<>();

        TakesAll(ReferenceWorld world, TimeSource time, Set<Feature> features, String trouble) {
            super(world, time, features, trouble);
            ALL_OF_THEM.add(this);
        }

        private Leftovers own() {
            return super.unwrap(Leftovers.class).orElseThrow();
        }

        @Override
        public <T> Optional<T> unwrap(Class<T> type) {
            Leftovers all = limit -> {
                for (TakesAll each : ALL_OF_THEM) {
                    each.own().remove(limit);
                }
            };
            return type == Leftovers.class ? Optional.of(type.cast(all)) : super.unwrap(type);
        }
    }

    private static final class Accepted extends Added {
        Accepted(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected void raise(Session session, TokenFloor asked) {
            floor = Math.max(floor, asked.wanted());
        }
    }

    private static final class Lowered extends Added {
        Lowered(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected void raise(Session session, TokenFloor asked) {
            floor = asked.wanted();
        }
    }
}
