// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.wire.WireException;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the previous runs of a member leave to the next one. This is the one place that says what a run may rely on; the
 * machines of all algorithms are given what it says, and ask for nothing else.
 *
 * <p><b>The rule.</b> A run knows from its own directory what it still has to wait for.
 *
 * <ul>
 *   <li><i>The horizon.</i> Nothing that a run has promised to anybody, a client's lease or a word to another member,
 *       lasts beyond the horizon that was in the member file before the promise left. A horizon only moves forward: the
 *       first record of a run has the one that it found, or a later one. A run that starts before it is quarantined,
 *       for as long as leases of clients may last; what lasts longer is the machine's to wait for, after its
 *       quarantine ({@link io.keyway.lock.peer.service.Algorithm#leases}). A run that is not quarantined when it starts
 *       has nothing to wait for that has a time. One that ended in order, and has promised nothing beyond the grants of
 *       its table, leaves these in the place of a horizon.
 *   <li><i>The records.</i> What has no time was forced as a record: votes, seats, "open by the seat since this view",
 *       tickets. A machine that finds no record has none that counts. It does not conclude from the end of a quarantine
 *       that there was none: what was not learned again is still lost after any number of starts.
 *   <li><i>The directory is one.</i> If one of its files (of which each cell may have its own) is missing, damaged,
 *       empty, of another member or algorithm, or not the one that was written (a copy, a file that was restored or
 *       changed), all records are lost and the run waits as if its disk were new. They are removed from the disk before
 *       the run forces anything, since its first record makes the directory its own again. So a run may be killed at
 *       any moment of its start: the next one finds the directory as this one did, or without records. Once the first
 *       record is on disk, so is its horizon: from then on a file without records is no loss
 *       ({@link RecordFile#counts}), and the next run waits for the rest.
 * </ul>
 *
 * @param quarantine how long nothing may be granted, from the moment of the computation
 * @param carriedOver what it had granted, if it ended in order
 */
public record PreviousRun(Quarantine quarantine, CarriedOverGrants carriedOver) {
    private static final Logger LOG = LoggerFactory.getLogger(PreviousRun.class);

    /**
     * Judges what a start finds.
     *
     * @param judged what the member file says
     * @param lostRecords why what was forced in the file of records is lost; empty if it is there, or there is none
     * @param settings of the member that starts
     * @param leases as of {@link io.keyway.lock.peer.service.Algorithm#leases}
     * @param now on the monotonic clock
     */
    public static PreviousRun of(
            StartState judged,
            Optional<String> lostRecords,
            MemberSettings settings,
            int leases,
            MachineFacts facts,
            long now) {
        StartState start = judged;
        if (lostRecords.isPresent() && start instanceof StartState.Restarted found) {
            start = found.without(lostRecords.get());
        }
        int algorithm = settings.algorithm();
        Quarantine quarantine = Quarantine.of(start, settings, leases, facts);
        if (start instanceof StartState.Restarted last && last.clean()) {
            try {
                long since = Quarantine.since(last.stored(), facts);
                return new PreviousRun(
                        quarantine,
                        CarriedOverGrants.read(algorithm, last.stored().grants(), now, since));
            } catch (WireException e) {
                start = last.without("the grants that the last life left cannot be read: " + e.getMessage());
                quarantine = Quarantine.of(start, settings, leases, facts);
            }
        }
        return kept(start, algorithm, quarantine, facts, now);
    }

    /** After a clean end whose grants are not to be taken over, places that are kept are, by name. */
    private static PreviousRun kept(
            StartState start, int algorithm, Quarantine quarantine, MachineFacts facts, long now) {
        if (start instanceof StartState.Restarted last
                && !last.horizonUsable()
                && !last.stored().grants().isEmpty()) {
            try {
                CarriedOverGrants kept = CarriedOverGrants.readKept(
                        algorithm, last.stored().grants(), now, Quarantine.since(last.stored(), facts));
                Quarantine known =
                        new Quarantine(quarantine.duration(), quarantine.reason(), Duration.ZERO, quarantine.horizon());
                return new PreviousRun(known, kept);
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
     * In nanoseconds. A life that starts after this one must wait for what this life waits for, or has taken over.
     */
    public long awaitedNanos() {
        return Math.max(quarantine.horizon().toNanos(), carriedOver.longest());
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
