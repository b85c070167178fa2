// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;

/** Defects in how many permits there are. */
final class PermitMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store(
                    "29",
                    "one-permit-more",
                    "one permit more than the capacity is given out",
                    "LK-1301",
                    counting((row, request) -> fits(row, request, request.capacity() + 1))),
            Mutant.store("30", "shrink-ignored", "the highest capacity ever stated counts", "LK-1302", Expansive::new),
            Mutant.store("30b", "shrink-revokes", "a lower capacity ends grants until it fits", "LK-1302", Strict::new),
            Mutant.store(
                    "32",
                    "half-as-many-again",
                    "as three voters would, half as many again are given out",
                    "LK-1301",
                    counting((row, request) -> fits(row, request, request.capacity() * 3 / 2))),
            Mutant.store(
                    "32b",
                    "permits-counted-as-holders",
                    "a grant counts as one permit, however many it has",
                    "LK-1301",
                    counting((row, request) -> row.holders().size() < request.capacity())),
            Mutant.store(
                    "110",
                    "free-has-room",
                    "what nobody holds is granted, whatever capacity is stated",
                    "LK-1301",
                    counting((row, request) -> row.holders().isEmpty() || fits(row, request, request.capacity()))),
            Mutant.store(
                    "116",
                    "capacity-of-the-first-attempt",
                    "a waiter keeps the capacity that its first attempt stated",
                    "LK-1301",
                    Keeping::new),
            Mutant.store(
                    "100",
                    "permits-below-zero",
                    "the store answers how many permits there are less those that are out",
                    "LK-1306",
                    Indebted::new));

    private PermitMutants() {}

    private static boolean fits(Row row, Request request, int capacity) {
        return row.permitsOut() + request.permits() <= capacity;
    }

    private static Mutant.StoreMaker counting(BiPredicate<Row, Request> room) {
        return (clock, tokensAbove) -> new Counting(clock, tokensAbove, room);
    }

    /** Has a rule of its own for whether there is room for a request. */
    private static final class Counting extends ReferenceStore {
        private final BiPredicate<Row, Request> room;

        Counting(LongSupplier clock, long tokensAbove, BiPredicate<Row, Request> room) {
            super(clock, tokensAbove);
            this.room = room;
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            return request.mode() == LockMode.PERMITS ? room.test(row, request) : super.admits(row, request, now);
        }
    }

    private static final class Expansive extends ReferenceStore {
        private final Map<LockKey, Integer> highest = new HashMap<>();

        Expansive(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            return request.mode() == LockMode.PERMITS
                    ? fits(row, request, highest.merge(request.key(), request.capacity(), Math::max))
                    : super.admits(row, request, now);
        }
    }

    private static final class Keeping extends ReferenceStore {
        private record Asker(String client, long request) {}

        private final Map<Asker, Integer> stated = new HashMap<>();

        Keeping(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            Asker asker = new Asker(request.owner().client(), request.id());
            return request.mode() == LockMode.PERMITS
                    ? fits(row, request, stated.computeIfAbsent(asker, first -> request.capacity()))
                    : super.admits(row, request, now);
        }
    }

    private static final class Strict extends ReferenceStore {
        Strict(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            if (request.mode() == LockMode.PERMITS) {
                for (Entry holder : List.copyOf(row.holders())) {
                    if (row.permitsOut() > request.capacity()) {
                        session(holder.client()).ifPresent(session -> release(session, holder.grant()));
                    }
                }
            }
            return super.admits(row, request, now);
        }
    }

    private static final class Indebted extends ReferenceStore {
        Indebted(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public int availablePermits(LockKey key, int capacity) throws NotExecutedException {
            int most = Integer.MAX_VALUE;
            return capacity - (most - super.availablePermits(key, most));
        }
    }
}
