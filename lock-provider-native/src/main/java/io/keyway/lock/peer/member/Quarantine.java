// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.os.BootClock;
import io.keyway.lock.peer.os.MachineFacts;
import io.keyway.lock.peer.session.SessionSettings;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * How long a member waits after its start before it grants, on the monotonic clock, while holders re-assert. Leases of
 * an earlier life may still be believed until then. {@link PreviousRun} has the rule.
 *
 * @param duration from the moment of the computation; not negative
 * @param reason one sentence for logs and answers
 * @param kept how much of it lasts even if nobody believes in anything any more, since places are kept
 * @param horizon when nothing lasts any more that a former life has promised to anybody, from the same moment; not
 *     before the end of {@code duration}
 */
public record Quarantine(Duration duration, String reason, Duration kept, Duration horizon) {
    private static Quarantine none(String reason) {
        return new Quarantine(Duration.ZERO, reason, Duration.ZERO, Duration.ZERO);
    }

    /** Returns the full wait, which covers clock rates that differ by 1 %. */
    public static Duration full(Duration maxTtl) {
        return Duration.ofNanos(SessionSettings.quarantine(maxTtl.toNanos()));
    }

    /**
     * Computes the wait from what was found at the start.
     *
     * @param leases as of {@link io.keyway.lock.peer.service.Algorithm#leases}
     */
    static Quarantine of(StartState start, MemberSettings settings, int leases, MachineFacts facts) {
        if (start instanceof StartState.FirstUse) {
            return none("first use: nothing was ever granted here");
        } else if (start instanceof StartState.Missing) {
            return whole(Optional.empty(), settings, leases, facts, "the member file is missing");
        } else if (start instanceof StartState.Damaged damaged) {
            return whole(Optional.empty(), settings, leases, facts, "the member file is damaged: " + damaged.why());
        } else if (start instanceof StartState.Foreign foreign) {
            String why = "the member file is not of this member: " + foreign.why();
            return whole(foreign.stored(), settings, leases, facts, why);
        }
        StartState.Restarted found = (StartState.Restarted) start;
        StoredRecord stored = found.stored();
        if (found.whyNot().isPresent()) {
            return whole(
                    Optional.of(stored), settings, leases, facts, found.whyNot().get());
        } else if (found.clean()) {
            return none("the last life of this member ended in order; grants taken over: "
                    + stored.grants().size());
        }
        OptionalLong horizon = left(stored, facts);
        if (horizon.isEmpty()) {
            return whole(Optional.of(stored), settings, leases, facts, "the boot clock cannot be read");
        }
        Duration kept = kept(stored, facts);
        long left = Math.max(horizon.getAsLong(), kept.toNanos());
        if (left <= 0) {
            return none("every lease of the last life has ended on the boot clock");
        }
        Duration wait = shorter(Duration.ofNanos(left), wait(stored, settings, leases));
        String why = "leases of the last life may be held for another " + seconds(wait);
        return new Quarantine(wait, why, kept, Duration.ofNanos(left));
    }

    /** In how many nanoseconds the horizon of that record is reached; empty if its clock is not that of now. */
    private static OptionalLong left(StoredRecord stored, MachineFacts facts) {
        long monotonic = facts.nanoTime();
        OptionalLong boot = facts.bootNanos();
        long horizon = stored.record().horizonNanos();
        boolean same = facts.bootId().equals(Optional.of(stored.bootId()))
                && facts.timeNamespace().equals(Optional.of(stored.timeNamespace()));
        if (boot.isEmpty() || horizon == BootClock.NONE || !same) {
            return OptionalLong.empty();
        }
        // Believers on this machine count on a clock that stands while it sleeps; the horizon moves by as much.
        // The boot clock is read after the monotonic one here and before it at the write, so that errors only add.
        long asleep = boot.getAsLong() + MachineFacts.BOOT_STEP_NANOS - monotonic;
        long slept = Math.max(0, asleep - asleep(stored));
        return OptionalLong.of(horizon + slept - boot.getAsLong());
    }

    private static Quarantine whole(
            Optional<StoredRecord> stored, MemberSettings settings, int leases, MachineFacts facts, String why) {
        Duration full = full(stored.map(known -> longest(known, settings)).orElse(settings.maxTtl()));
        Duration wait = stored.map(known -> wait(known, settings, leases)).orElse(full);
        Duration kept = stored.map(known -> kept(known, facts)).orElse(Duration.ZERO);
        Duration left = Duration.ofNanos(
                stored.map(known -> left(known, facts).orElse(0)).orElse(0L));
        return new Quarantine(
                wait,
                why + "; leases of an earlier life may last up to " + seconds(wait),
                kept,
                longer(full.multipliedBy(leases), longer(kept, left)));
    }

    /**
     * How long a life waits at most. Machines add to that what they have promised to other members, in leases of this
     * life: if those of a former life were longer, it waits for these as well.
     */
    private static Duration wait(StoredRecord stored, MemberSettings settings, int leases) {
        Duration longest = longest(stored, settings);
        return full(longest).multipliedBy(longest.compareTo(settings.maxTtl()) > 0 ? leases : 1);
    }

    private static Duration shorter(Duration one, Duration two) {
        return one.compareTo(two) < 0 ? one : two;
    }

    private static Duration longer(Duration one, Duration two) {
        return one.compareTo(two) > 0 ? one : two;
    }

    private static String seconds(Duration time) {
        return time.plusNanos(999_999_999).toSeconds() + " s";
    }

    /** For how long, from now, places may be kept of which that record speaks. */
    static Duration kept(StoredRecord stored, MachineFacts facts) {
        return Duration.ofNanos(Math.max(0, stored.record().keptNanos() - since(stored, facts)));
    }

    /**
     * Nanoseconds that have surely passed since that record was written: on the monotonic clock of one run of the
     * machine, and no more than on its boot clock; after a new start of the machine those since that start. Where the
     * system has no such clocks the wall clock counts: short hosts, one after the other, would keep a place forever
     * otherwise.
     */
    static long since(StoredRecord stored, MachineFacts facts) {
        OptionalLong boot = facts.bootNanos();
        if (boot.isEmpty() || stored.bootId().isEmpty() || facts.bootId().isEmpty()) {
            return Math.max(0, TimeUnit.MILLISECONDS.toNanos(facts.wallMillis() - stored.wallMillis()));
        }
        if (stored.timeNamespace().isEmpty() || !facts.timeNamespace().equals(Optional.of(stored.timeNamespace()))) {
            return 0;
        }
        if (!stored.bootId().equals(facts.bootId().get())) {
            return Math.max(0, boot.getAsLong());
        }
        if (stored.bootNanos() == BootClock.NONE) {
            return 0;
        }
        long awake = facts.nanoTime() - stored.nanoTime();
        return Math.max(0, Math.min(awake, boot.getAsLong() - stored.bootNanos() - MachineFacts.BOOT_STEP_NANOS));
    }

    /** How long the machine had slept since it started, at the write of this record. */
    static long asleep(StoredRecord stored) {
        return stored.bootNanos() - stored.nanoTime();
    }

    private static Duration longest(StoredRecord stored, MemberSettings settings) {
        return longer(Duration.ofNanos(stored.record().largestTtlNanos()), settings.maxTtl());
    }
}
