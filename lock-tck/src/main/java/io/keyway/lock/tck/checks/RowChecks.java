// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import java.time.Duration;
import java.util.List;

/** What a store of rows is asked for past the verbs that the kit makes of it. */
final class RowChecks {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    /** As long as any message may be under way, and for much longer than the check takes. */
    private static Duration underWay(CheckContext t) {
        Duration least = Duration.ofMinutes(1);
        Duration terms = t.ttl().multipliedBy(16);
        return terms.compareTo(least) > 0 ? terms : least;
    }

    /** The kit remembers a withdrawal itself, too, so that the verbs of one client do not show what the store has. */
    @Check(rules = "LK-1502", from = Profile.SMOKE)
    @Hint("For how long does the memory of a withdrawal last: for Entry.lasts, or by the lease that its request had "
            + "before? It has the same id (Entry.begins)")
    void theMemoryOfAWithdrawalOutlastsTheTtlOfItsRequest(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        BackendProbe waiter = t.probe("waiter");
        RowStore store = waiter.rows()
                .orElseThrow(() -> t.skipped(Verdict.NOT_APPLICABLE, "the provider is not built over rows (RowStore)"));
        holder.take(t.name(), t.longer(16));
        Request request = waiter.request(t.name(), t.ttl());
        t.expect(waiter.attempt(request) instanceof Attempt.Waiting, "a lock that is held was granted, or refused");
        Duration ttl = t.ttl();
        Duration lasts = underWay(t);
        long sent = t.now();
        Entry memory = withdrawn(t, store, request, lasts);
        t.pass(t.ttl(3, 1));
        Stored later = store.read(request.key(), Deadline.after(LIMIT));
        boolean remembered =
                store.rules().expired(later.row(), later.now()).hasWithdrawn(memory.client(), request.id());
        t.neverWithin(
                sent,
                lasts,
                !remembered,
                "a withdrawal was to be remembered for " + text(lasts) + ", and was forgotten "
                        + text(ttl.multipliedBy(3)) + " after it was written, the ttl of its request being " + text(ttl)
                        + ": an attempt that is still under way would be carried out");
    }

    /** In the place of the waiter in the queue stands that it was withdrawn. */
    private static Entry withdrawn(CheckContext t, RowStore store, Request request, Duration lasts) throws Exception {
        Stored stands = store.read(request.key(), Deadline.after(LIMIT));
        for (int i = 0; i < 20; i++) {
            Entry waiter = stands.row().entries().stream()
                    .filter(entry -> entry.waits() && entry.request().id() == request.id())
                    .findFirst()
                    .orElseThrow(() -> t.failure("a waiter is not in the row of its key"));
            Entry memory = new Entry(
                    waiter.client(),
                    request,
                    Entry.State.WITHDRAWN,
                    0,
                    Entry.STAMP,
                    Entry.STAMP,
                    lasts.toNanos(),
                    "",
                    null);
            List<Entry> entries = stands.row().entries().stream()
                    .map(entry -> entry.equals(waiter) ? memory : entry)
                    .toList();
            Write write =
                    new Write(request.key(), store.expected(stands), new Row(entries), List.of(memory), List.of());
            Written written = store.write(write, Deadline.after(LIMIT));
            if (written.done()) {
                return memory;
            }
            stands = written.stored();
        }
        throw t.failure("a row was not written in 20 tries, each with the version that the store named");
    }
}
