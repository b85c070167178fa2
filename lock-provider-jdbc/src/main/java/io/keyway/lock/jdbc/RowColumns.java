// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What people can read of a row beside its text. Times are microseconds of the database's clock since 1970; one that is
 * the time of the write, or counted from it, is known to the database alone.
 *
 * @param mode of those that hold; null if nobody does
 * @param holders their names; null if nobody holds
 * @param since when the first of them was granted; null if that is the time of the write
 * @param until when the last of them ends, or 0 if the next one says it
 * @param untilAfter how long after the write the last of them ends
 * @param waiting how many wait
 * @param waiters the names of the first of them; null if nobody waits
 * @param over when all that is in the row has ended, or 0 if the next one says it
 * @param overAfter how long after the write all that is in the row has ended
 */
record RowColumns(
        @Nullable String mode,
        @Nullable String holders,
        @Nullable Long since,
        long until,
        long untilAfter,
        int waiting,
        @Nullable String waiters,
        long over,
        long overAfter) {

    private static final int SHOWN = 20;
    private static final int LONGEST = 1000;

    static RowColumns of(Row row) {
        List<Entry> holders = row.holders();
        Entry first = holders.isEmpty() ? null : holders.get(0);
        List<Entry> waiters = row.waiters();

        return new RowColumns(
                first == null ? null : first.request().mode().name(),
                names(holders),
                first == null || first.since() == Entry.STAMP ? null : first.since() / 1000,
                ends(holders),
                endsAfter(holders),
                waiters.size(),
                names(waiters),
                ends(row.entries()),
                endsAfter(row.entries()));
    }

    private static @Nullable String names(List<Entry> entries) {
        if (entries.isEmpty()) {
            return null;
        }
        String names = entries.stream()
                .limit(SHOWN)
                .map(entry -> entry.request().owner().client())
                .collect(Collectors.joining(", "));
        String all = entries.size() > SHOWN ? names + ", ..." : names;
        return all.length() > LONGEST ? all.substring(0, LONGEST - 3) + "..." : all;
    }

    private static long ends(List<Entry> entries) {
        return entries.stream()
                .filter(entry -> entry.heard() != Entry.STAMP)
                .mapToLong(entry -> (entry.heard() + lasts(entry)) / 1000)
                .max()
                .orElse(0);
    }

    private static long endsAfter(List<Entry> entries) {
        return entries.stream()
                .filter(entry -> entry.heard() == Entry.STAMP)
                .mapToLong(entry -> lasts(entry) / 1000)
                .max()
                .orElse(0);
    }

    /** A place may be kept after its term. */
    private static long lasts(Entry entry) {
        return Math.max(entry.lasts(), entry.request().holdAtLeast().toNanos());
    }
}
