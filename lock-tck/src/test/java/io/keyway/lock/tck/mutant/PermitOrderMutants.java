// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.reference.Session;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Defects in whose turn it is among those that wait for permits. */
final class PermitOrderMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store(
                    "142",
                    "first-that-fits",
                    "of those that wait for permits the first that fits is next",
                    "LK-1307",
                    (clock, tokensAbove) -> new Passing(clock, tokensAbove, (waiter, request) -> true)),
            Mutant.store(
                    "143",
                    "other-capacity-passes",
                    "who states another capacity passes one that does not fit, also if it states less",
                    "LK-1307",
                    (clock, tokensAbove) -> new Passing(
                            clock, tokensAbove, (waiter, request) -> waiter.capacity() != request.capacity())),
            Mutant.store(
                    "144",
                    "first-alone-decides",
                    "while the first that waits for permits does not fit nobody is granted any",
                    "LK-1308",
                    Strict::new),
            Mutant.store(
                    "145",
                    "wider-passes-at-once-or-never",
                    "who states a larger capacity passes others when it comes, and not when it waits",
                    "LK-1308",
                    Hasty::new),
            Mutant.store(
                    "146",
                    "wider-is-not-told",
                    "when permits come back only the first that waits is told",
                    "LK-411",
                    Deaf::new),
            Mutant.store(
                    "147",
                    "cached-permits",
                    "the permits that a client has given back are its own again when it asks, whatever is out by then",
                    "LK-1301",
                    Lending::new));

    private PermitOrderMutants() {}

    private interface Pass {
        boolean passes(Request waiter, Request request);
    }

    /** Who does not fit is passed by some. */
    private static final class Passing extends ReferenceStore {
        private final Pass pass;

        Passing(LongSupplier clock, long tokensAbove, Pass pass) {
            super(clock, tokensAbove);
            this.pass = pass;
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            if (request.mode() != LockMode.PERMITS) {
                return super.isTurnOf(row, waiter, request);
            }
            for (Entry before : row.waiters()) {
                if (before.equals(waiter)) {
                    break;
                }
                if (admits(row, before.request()) || !pass.passes(before.request(), request)) {
                    return false;
                }
            }
            return true;
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            return row.waiters().stream()
                    .filter(waiter -> isTurnOf(row, waiter, waiter.request()) && admits(row, waiter.request()))
                    .findFirst()
                    .orElse(row.first());
        }
    }

    private static final class Strict extends ReferenceStore {
        Strict(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            return Objects.equals(row.first(), waiter);
        }
    }

    private static final class Hasty extends ReferenceStore {
        Hasty(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            return waiter == null ? super.isTurnOf(row, null, request) : waiter.equals(row.first());
        }
    }

    private static final class Deaf extends ReferenceStore {
        Deaf(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected @Nullable Entry next(Row row, @Nullable Entry left) {
            return row.first();
        }
    }

    private static final class Lending extends ReferenceStore {
        private record Share(String client, LockKey key) {}

        private final Map<String, String> names = new ConcurrentHashMap<>();
        private final Set<Share> lent = ConcurrentHashMap.newKeySet();

        Lending(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        public Attempt attempt(Session session, Request request) throws NotExecutedException {
            names.put(session.client(), request.owner().client());
            return super.attempt(session, request);
        }

        @Override
        public Answer release(Session session, Grant grant) {
            lent.add(new Share(names.getOrDefault(session.client(), ""), grant.key()));
            return super.release(session, grant);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            boolean own = request.mode() == LockMode.PERMITS
                    && lent.contains(new Share(request.owner().client(), request.key()));
            return own || super.admits(row, request, now);
        }
    }
}
