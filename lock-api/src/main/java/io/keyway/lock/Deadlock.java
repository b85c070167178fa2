// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * A deadlock that was found and ended: who waited for whom, and who gave way.
 *
 * @param cycle who waited, each for the next one and the last one for the first, who gave way; at least one
 * @param gaveUp the lock that the last one waited for, held or asked for earlier by the first
 * @param way how the first gave way
 */
public record Deadlock(List<Waiter> cycle, LockName gaveUp, Way way) {
    /** How a transaction gives way. */
    public enum Way {
        /**
         * It released a lock that it had not been told to hold, or withdrew its request for one, and asked for it
         * again, behind all who wait.
         */
        SURRENDERED,
        /** It was aborted: it waits for nothing any more, and its locks are free when it is closed. */
        ABORTED
    }

    /**
     * Somebody in the cycle.
     *
     * @param owner the name of its client
     * @param transaction its {@link LockTransaction#id()}
     * @param waitsFor which lock it waited for, held or asked for earlier by the next one
     * @param waited how long it had waited when this was found, about
     */
    public record Waiter(String owner, String transaction, LockName waitsFor, Duration waited) {
        /**
         * Checks that nothing is null.
         *
         * @param owner see the record
         * @param transaction see the record
         * @param waitsFor see the record
         * @param waited see the record
         */
        public Waiter {
            Objects.requireNonNull(owner, "owner");
            Objects.requireNonNull(transaction, "transaction");
            Objects.requireNonNull(waitsFor, "waitsFor");
            Objects.requireNonNull(waited, "waited");
        }

        @Override
        public String toString() {
            return transaction + " of " + owner + " waits for " + waitsFor + " (since " + waited.toMillis() + " ms)";
        }
    }

    /**
     * Checks that nothing is null and that somebody waited.
     *
     * @param cycle see the record
     * @param gaveUp see the record
     * @param way see the record
     */
    public Deadlock {
        cycle = List.copyOf(cycle);
        Objects.requireNonNull(gaveUp, "gaveUp");
        Objects.requireNonNull(way, "way");
        if (cycle.isEmpty()) {
            throw new IllegalArgumentException("a deadlock of nobody");
        }
    }

    /** {@return the whole cycle in one sentence, for people} */
    @Override
    public String toString() {
        if (cycle.size() == 1) {
            return cycle.get(0) + " EXCLUSIVE, which it holds SHARED, beside a reader that asked for the same earlier;"
                    + " that one was aborted and holds " + gaveUp + " SHARED until it is closed";
        }
        StringBuilder text = new StringBuilder();
        for (Waiter each : cycle) {
            text.append(text.isEmpty() ? "" : ", held or asked for earlier by ").append(each);
        }
        text.append(", held or asked for earlier by ").append(cycle.get(0).transaction());
        return text.append(
                        way == Way.SURRENDERED
                                ? "; that one surrendered " + gaveUp
                                : "; that one was aborted and keeps what it holds until it is closed")
                .toString();
    }
}
