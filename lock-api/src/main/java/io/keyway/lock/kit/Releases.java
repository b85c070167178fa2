// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The releases of the grants of one lock, which are sent together: of its parts at nodes, or of the one that it has. A
 * lock over nodes is given back when as many nodes have said so as it is held by; nobody waits for the others, one of
 * which may be away.
 */
final class Releases {
    private final List<Releasable> grants;
    private final int needed;
    private final Runnable onLost;

    /** @param needed so many answers decide; 0 if nobody waits for any */
    Releases(List<Releasable> grants, int needed) {
        this(grants, needed, () -> {});
    }

    /** {@code onLost}: what a caller that waits for the outcome does if the lock was lost before. */
    Releases(List<Releasable> grants, int needed, Runnable onLost) {
        this.grants = List.copyOf(grants);
        this.needed = needed;
        this.onLost = onLost;
    }

    /** Sends all. */
    void send() {
        grants.forEach(Releasable::sendRelease);
    }

    /** Sends all, and waits; what goes wrong is logged. */
    void close(TimeSource time) {
        if (grants.size() == 1 && needed == 1) {
            grants.get(0).close();
        } else if (needed == 0) {
            send();
        } else {
            release(time);
        }
    }

    /** Sends all, and waits for the outcome; an interrupt is kept for later. */
    ReleaseOutcome release(TimeSource time) {
        return grants.size() == 1 && needed == 1
                ? grants.get(0).release()
                : releaseAsync(time).join();
    }

    /**
     * Sends all. The future is complete when enough are answered, or all: as that of {@link Releasable#sendRelease}.
     */
    CompletableFuture<ReleaseOutcome> releaseAsync(TimeSource time) {
        CompletableFuture<ReleaseOutcome> told = ClockedFuture.on(time);
        Answers answers = new Answers(told);
        if (grants.size() < needed) {
            answers.tell(ReleaseOutcome.ALREADY_LOST);
        }
        for (Releasable each : grants) {
            each.sendRelease()
                    .whenComplete(
                            (outcome, failure) -> answers.heard(failure == null ? outcome : ReleaseOutcome.UNKNOWN));
        }
        return told;
    }

    /** What is known of the outcome. */
    private final class Answers {
        private final CompletableFuture<ReleaseOutcome> told;
        private int released;
        private int unknown;
        private int answered;

        Answers(CompletableFuture<ReleaseOutcome> told) {
            this.told = told;
        }

        void heard(ReleaseOutcome outcome) {
            ReleaseOutcome all;
            synchronized (this) {
                answered++;
                released += outcome == ReleaseOutcome.RELEASED ? 1 : 0;
                unknown += outcome == ReleaseOutcome.UNKNOWN ? 1 : 0;
                if (released < needed && answered < grants.size()) {
                    return;
                }
                all = released >= needed
                        ? ReleaseOutcome.RELEASED
                        : released + unknown >= needed ? ReleaseOutcome.UNKNOWN : ReleaseOutcome.ALREADY_LOST;
            }
            tell(all);
        }

        private void tell(ReleaseOutcome all) {
            if (told.complete(all) && all == ReleaseOutcome.ALREADY_LOST) {
                onLost.run();
            }
        }
    }
}
