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
 * an earlier life may still be believed until then.
 *
 * @param duration from the moment of the computation; not negative
 * @param reason one sentence for logs and answers
 * @param kept how much of it lasts even if nobody believes in anything any more, since places are kept
 */
public record Quarantine(Duration duration, String reason, Duration kept) {
    /** A wait for leases alone. */
    public Quarantine(Duration duration, String reason) {
        this(duration, reason, Duration.ZERO);
    }

    /** Returns the full wait, which covers clock rates that differ by 1 %. */
    public static Duration full(Duration maxTtl) {
        return Duration.ofNanos(SessionSettings.quarantine(maxTtl.toNanos()));
    }

    /** Computes the wait from what was found at the start. */
    public static Quarantine of(StartState start, MemberSettings settings, MachineFacts facts) {
        if (start instanceof StartState.FirstUse) {
            return new Quarantine(Duration.ZERO, "first use: nothing was ever granted here");
        }
        if (start instanceof StartState.Missing) {
            return whole(settings.maxTtl(), "the member file is missing");
        }
        if (start instanceof StartState.Damaged damaged) {
            return whole(settings.maxTtl(), "the member file is damaged: " + damaged.why());
        }
        if (start instanceof StartState.Foreign foreign) {
            Duration ttl =
                    foreign.stored().map(stored -> longest(stored, settings)).orElse(settings.maxTtl());
            Duration kept = foreign.stored().map(stored -> kept(stored, facts)).orElse(Duration.ZERO);
            return whole(ttl, "the member file is not of this member: " + foreign.why(), kept);
        }
        return restarted((StartState.Restarted) start, settings, facts);
    }

    private static Quarantine restarted(StartState.Restarted start, MemberSettings settings, MachineFacts facts) {
        Duration ttl = longest(start.stored(), settings);
        Duration kept = kept(start.stored(), facts);
        if (start.whyNot().isPresent()) {
            return whole(ttl, start.whyNot().get(), kept);
        }
        if (start.clean()) {
            return new Quarantine(
                    Duration.ZERO,
                    "the last life of this member ended in order; grants taken over: "
                            + start.stored().grants().size());
        }
        long monotonic = facts.nanoTime();
        OptionalLong boot = facts.bootNanos();
        long horizon = start.stored().record().horizonNanos();
        if (boot.isEmpty() || horizon == BootClock.NONE) {
            return whole(ttl, "the boot clock cannot be read", kept);
        }
        // Believers on this machine count on a clock that stands while it sleeps; the horizon moves by as much.
        // The boot clock is read after the monotonic one here and before it at the write, so that errors only add.
        long asleep = boot.getAsLong() + MachineFacts.BOOT_STEP_NANOS - monotonic;
        long slept = Math.max(0, asleep - asleep(start.stored()));
        long left = Math.max(horizon + slept - boot.getAsLong(), kept.toNanos());
        if (left <= 0) {
            return new Quarantine(Duration.ZERO, "every lease of the last life has ended on the boot clock");
        }
        Duration full = full(ttl);
        if (left > full.toNanos()) {
            return whole(ttl, "the stored horizon is further away than any lease lasts", kept);
        }
        return new Quarantine(
                Duration.ofNanos(left),
                "leases of the last life may be held for another " + seconds(Duration.ofNanos(left)),
                kept);
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
     * system has no such clocks the wall clock counts: short hosts, one after the other, would keep a place for ever
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
        Duration given = Duration.ofNanos(stored.record().largestTtlNanos());
        return given.compareTo(settings.maxTtl()) > 0 ? given : settings.maxTtl();
    }

    private static Quarantine whole(Duration maxTtl, String why) {
        return whole(maxTtl, why, Duration.ZERO);
    }

    private static Quarantine whole(Duration maxTtl, String why, Duration kept) {
        Duration full = full(maxTtl);
        return new Quarantine(full, why + "; leases of an earlier life may last up to " + seconds(full), kept);
    }
}
