// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockMode;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Defects in whose turn it is. */
final class QueueMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store("22", "last-come-first-served", "the waiter that came last is next", "LK-310", Stack::new),
            Mutant.store("23", "barging", "who has just come passes those that wait", "LK-310", Barging::new),
            Mutant.store(
                    "24",
                    "lost-wake-up",
                    "the end of a waiter wakes nobody, and nobody looks by itself",
                    "LK-408",
                    Sleepy::new),
            Mutant.store(
                    "24b", "no-wake-up", "a release wakes nobody; waiters find out by asking", "LK-411", Mute::new),
            Mutant.store("25", "waiter-stays", "a waiter that has left keeps its place", "LK-402", Sticky::new),
            Mutant.store(
                    "37",
                    "writer-starves",
                    "a reader passes a writer that asked earlier",
                    "LK-1203",
                    (clock, tokensAbove) -> new Favouring(clock, tokensAbove, LockMode.SHARED)),
            Mutant.store(
                    "67",
                    "small-requests-pass",
                    "a request for few permits passes one for more that waits",
                    "LK-310",
                    (clock, tokensAbove) -> new Favouring(clock, tokensAbove, LockMode.PERMITS)),
            Mutant.store(
                    "68",
                    "place-lost-after-ttl",
                    "a waiter goes to the end of the queue each ttl",
                    "LK-310",
                    Rotating::new),
            Mutant.store(
                    "114",
                    "queue-of-64",
                    "who finds 64 waiters before it is granted as if nobody waited",
                    "LK-310",
                    Bounded::new),
            Mutant.store(
                    "115",
                    "wakes-when-all-is-back",
                    "a release of permits wakes who waits if it leaves nobody that holds",
                    "LK-411",
                    Drowsy::new),
            Mutant.store(
                    "134",
                    "signals-for-16",
                    "the client that comes sixteenth after another is told what was meant for that one",
                    "LK-411",
                    Crowded::new));

    private QueueMutants() {}

    private static @Nullable Entry last(Row row) {
        Entry last = null;
        for (Entry waiter : row.waiters()) {
            last = waiter;
        }
        return last;
    }

    private static final class Stack extends ReferenceStore {
        Stack(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            return waiter == null ? !row.isWaitedFor() : waiter.equals(last(row));
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            return last(row);
        }
    }

    private static final class Barging extends ReferenceStore {
        Barging(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            return waiter == null || super.isTurnOf(row, waiter, request);
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            // Those that wait find out by asking, so that newcomers have their chance.
            return null;
        }
    }

    private static final class Sleepy extends ReferenceStore {
        Sleepy(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            boolean waited = left != null && left.waits();
            return waited ? null : super.next(row, left);
        }

        @Override
        protected Duration recheckWithin(Request request) {
            return Duration.ofHours(1);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            return holds
                    ? super.expiry(request, true, now)
                    : now + Duration.ofHours(2).toNanos();
        }
    }

    private static final class Mute extends ReferenceStore {
        Mute(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            return null;
        }
    }

    private static final class Bounded extends ReferenceStore {
        private static final int PLACES = 64;

        Bounded(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            int before = 0;
            for (Entry place : row.waiters()) {
                if (place.equals(waiter) || before == PLACES) {
                    break;
                }
                before++;
            }
            return before == PLACES || super.isTurnOf(row, waiter, request);
        }
    }

    private static final class Drowsy extends ReferenceStore {
        Drowsy(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            boolean some = left != null
                    && left.request().mode() == LockMode.PERMITS
                    && !row.holders().isEmpty();
            return some ? null : super.next(row, left);
        }
    }

    private static final class Crowded extends ReferenceStore {
        private static final int PLACES = 16;

        private final Map<String, Integer> order = new ConcurrentHashMap<>();
        private final Map<Integer, String> places = new ConcurrentHashMap<>();

        Crowded(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            order.computeIfAbsent(session.client(), come -> {
                int place = order.size() % PLACES;
                places.put(place, come);
                return place;
            });
            return super.attempt(session, request);
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            Entry next = super.next(row, left);
            return next == null || next.client().equals(places.get(order.getOrDefault(next.client(), -1)))
                    ? next
                    : null;
        }
    }

    private static final class Sticky extends ReferenceStore {
        Sticky(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public void withdraw(Session session, Request request) {}
    }

    /** Requests of that mode pass those that wait. */
    private static final class Favouring extends ReferenceStore {
        private final LockMode favoured;

        Favouring(LongSupplier clock, long tokensAbove, LockMode favoured) {
            super(clock, tokensAbove);
            this.favoured = favoured;
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            return request.mode() == favoured || super.isTurnOf(row, waiter, request);
        }
    }

    private static final class Rotating extends ReferenceStore {
        private final Map<String, Long> since = new HashMap<>();

        Rotating(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected long expiry(Request request, boolean holds, long now) {
            if (holds) {
                return super.expiry(request, true, now);
            }
            String who = request.key() + request.owner().client() + request.id();
            long from = since.merge(
                    who, now, (old, fresh) -> fresh - old > request.ttl().toNanos() ? fresh : old);
            return from + request.ttl().toNanos();
        }
    }
}
