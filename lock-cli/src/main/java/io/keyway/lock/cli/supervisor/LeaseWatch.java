// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import org.jspecify.annotations.Nullable;

/**
 * What the supervisor knows about the lease, and what follows from it: a small state machine without clock or thread.
 *
 * <p>Once the command was asked to end, nothing takes that back: a deadline that comes later belongs to a lease that
 * somebody already saw lapse.
 */
final class LeaseWatch {
    enum Step {
        /** Nothing to do before {@link LeaseWatch#nextAt()}. */
        WAIT,
        TERMINATE,
        KILL
    }

    private @Nullable Long deadline;
    private long grace;
    private @Nullable Long killAt;
    private boolean terminated;

    /** The lease is good until {@code at}; after that the command has {@code grace} to end. */
    void deadline(long at, long grace) {
        if (killAt == null && (deadline == null || at - deadline > 0)) {
            deadline = at;
            this.grace = grace;
        }
    }

    /** The lease has lapsed at {@code now}; never later than the deadline says. */
    void lapsed(long now) {
        if (killAt == null) {
            long from = deadline != null && deadline - now < 0 ? deadline : now;
            killAt = from + grace;
        }
    }

    /** The command must not run a moment longer. */
    void kill(long now) {
        terminated = true;
        if (killAt == null || killAt - now > 0) {
            killAt = now;
        }
    }

    boolean isOver() {
        return killAt != null;
    }

    Step at(long now) {
        if (killAt == null && deadline != null && now - deadline >= 0) {
            lapsed(now);
        }
        if (killAt == null) {
            return Step.WAIT;
        }
        if (now - killAt >= 0) {
            return Step.KILL;
        }
        if (!terminated) {
            terminated = true;
            return Step.TERMINATE;
        }
        return Step.WAIT;
    }

    /** When {@link #at} is to be asked next; null: not before something is told. */
    @Nullable
    Long nextAt() {
        return killAt != null ? killAt : deadline;
    }
}
