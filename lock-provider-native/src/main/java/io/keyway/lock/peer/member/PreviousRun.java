// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.wire.WireException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the previous run of a member leaves to the next one.
 *
 * @param quarantine how long nothing may be granted, from the moment of the computation
 * @param carriedOver what it had granted, if it ended in order
 */
public record PreviousRun(Quarantine quarantine, CarriedOverGrants carriedOver) {
    private static final Logger LOG = LoggerFactory.getLogger(PreviousRun.class);

    /**
     * Judges what the file says.
     *
     * @param algorithm whose grants they are
     * @param now on the monotonic clock
     */
    public static PreviousRun of(MemberFile file, int algorithm, Duration maxTtl, long now) {
        Quarantine quarantine = file.quarantine();
        if (file.start() instanceof StartState.Restarted last && last.clean()) {
            try {
                long since = file.since(last.stored());
                return new PreviousRun(
                        quarantine,
                        CarriedOverGrants.read(algorithm, last.stored().grants(), now, since));
            } catch (WireException e) {
                quarantine = new Quarantine(
                        Quarantine.full(maxTtl),
                        "the grants that the last life left cannot be read: " + e.getMessage(),
                        file.kept(last.stored()));
            }
        }
        return kept(file, algorithm, quarantine, now);
    }

    /** After a clean end whose grants are not to be taken over, places that are kept are, by name. */
    private static PreviousRun kept(MemberFile file, int algorithm, Quarantine quarantine, long now) {
        if (file.start() instanceof StartState.Restarted last
                && !last.horizonUsable()
                && !last.stored().grants().isEmpty()) {
            try {
                CarriedOverGrants kept =
                        CarriedOverGrants.readKept(algorithm, last.stored().grants(), now, file.since(last.stored()));
                return new PreviousRun(new Quarantine(quarantine.duration(), quarantine.reason()), kept);
            } catch (WireException e) {
                LOG.debug("the grants that the last life left cannot be read", e);
            }
        }
        return new PreviousRun(quarantine, CarriedOverGrants.none());
    }

    public long waitNanos() {
        return quarantine.duration().toNanos();
    }

    /** In nanoseconds. For so long no proof that nobody believes ends the wait. */
    public long keptNanos() {
        return quarantine.kept().toNanos();
    }

    /** In nanoseconds. For so long something may be kept in which nobody has to believe. */
    public long longestKept() {
        return Math.max(keptNanos(), carriedOver.longestKept());
    }

    /**
     * In nanoseconds. Whoever starts after this life must wait for the leases that this life waits for, or has taken
     * over.
     */
    public long awaitedNanos() {
        return Math.max(waitNanos(), carriedOver.longest());
    }

    /** For the log, after "with epoch 5". */
    public String sentence() {
        if (waitNanos() > 0) {
            return "; no grants for " + quarantine.duration().plusMillis(999).toSeconds() + " s: "
                    + quarantine.reason();
        }
        return carriedOver.isEmpty() ? "" : "; grants taken over: " + carriedOver.size();
    }
}
