// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockMode;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.reference.ReferenceStore;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Defects in whether a lock is free. */
final class GrantMutants {

    static final List<Mutant> ALL = List.of(
            Mutant.store(
                    "1", "try-always-succeeds", "an attempt that does not queue is granted", "LK-301", Generous::new),
            Mutant.store(
                    "2",
                    "check-then-act",
                    "who asks within 1 ms of a grant is granted too, since the look and the take are two steps",
                    "LK-301",
                    Hasty::new),
            Mutant.store("3", "one-client-each", "each client excludes only itself", "LK-301", Apart::new),
            Mutant.store(
                    "33", "reader-beside-writer", "a reader is granted while a writer holds", "LK-301", Tolerant::new),
            Mutant.store(
                    "33b", "writer-beside-reader", "a writer is granted while readers hold", "LK-301", Pushy::new));

    private GrantMutants() {}

    private static final class Generous extends ReferenceStore {
        Generous(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
            return !request.queue() || super.isTurnOf(row, waiter, request);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            return !request.queue() || super.admits(row, request, now);
        }
    }

    private static final class Hasty extends ReferenceStore {
        Hasty(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            return super.admits(row, request, now)
                    || row.holders().stream()
                            .allMatch(holder ->
                                    now - holder.since() < Duration.ofMillis(1).toNanos());
        }
    }

    private static final class Apart extends ReferenceStore {
        Apart(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            return super.admits(row, request, now)
                    || row.holders().stream()
                            .noneMatch(holder -> holder.request()
                                    .owner()
                                    .client()
                                    .equals(request.owner().client()));
        }
    }

    private static final class Tolerant extends ReferenceStore {
        Tolerant(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            return request.mode() == LockMode.SHARED || super.admits(row, request, now);
        }
    }

    private static final class Pushy extends ReferenceStore {
        Pushy(LongSupplier clock, long tokensAbove) {
            super(clock, tokensAbove);
        }

        @Override
        protected boolean admits(Row row, Request request, long now) {
            boolean readersOnly =
                    row.holders().stream().allMatch(holder -> holder.request().mode() == LockMode.SHARED);
            return (request.mode() == LockMode.EXCLUSIVE && readersOnly) || super.admits(row, request, now);
        }
    }
}
