// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import io.keyway.lock.peer.session.SessionSettings;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * How long a member waits after its start before it grants, on the monotonic clock, while holders re-assert. Leases of an earlier life may still be believed until then.
 *
 * @param duration from the moment of the computation; not negative
 * @param reason one sentence for logs and answers
 */
public record Quarantine(Duration duration, String reason) {
    /** Returns the full wait, which covers clock rates that differ by 1 %. */
    public static Duration full(Duration maxTtl) {
        return Duration.ofNanos(SessionSettings.quarantine(maxTtl.toNanos()));
    }

    /** Computes the wait from what was found at the start. */
    public static Quarantine of(Start start, MemberSettings settings, MachineFacts facts) {
        if (start instanceof Start.FirstUse) {
            return new Quarantine(Duration.ZERO, "first use: nothing was ever granted here");
        }
        if (start instanceof Start.Missing) {
            return whole(settings.maxTtl(), "the member file is missing");
        }
        if (start instanceof Start.Damaged damaged) {
            return whole(settings.maxTtl(), "the member file is damaged: " + damaged.why());
        }
        if (start instanceof Start.Foreign foreign) {
            Duration ttl =
                    foreign.stored().map(stored -> longest(stored, settings)).orElse(settings.maxTtl());
            return whole(ttl, "the member file is not of this member: " + foreign.why());
        }
        return restarted((Start.Restarted) start, settings, facts);
    }

    private static Quarantine restarted(Start.Restarted start, MemberSettings settings, MachineFacts facts) {
        Duration ttl = longest(start.stored(), settings);
        if (start.whyNot().isPresent()) {
            return whole(ttl, start.whyNot().get());
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
            return whole(ttl, "the boot clock cannot be read");
        }
        // Believers on this machine count on a clock that stands while it sleeps; the horizon moves by as much.
        // The boot clock is read after the monotonic one here and before it at the write, so that errors only add.
        long asleep = boot.getAsLong() + MachineFacts.BOOT_STEP_NANOS - monotonic;
        long slept = Math.max(0, asleep - asleep(start.stored()));
        long left = horizon + slept - boot.getAsLong();
        if (left <= 0) {
            return new Quarantine(Duration.ZERO, "every lease of the last life has ended on the boot clock");
        }
        Duration full = full(ttl);
        if (left > full.toNanos()) {
            return whole(ttl, "the stored horizon is further away than any lease lasts");
        }
        return new Quarantine(
                Duration.ofNanos(left),
                "leases of the last life may be held for another " + Duration.ofMillis((left + 999_999) / 1_000_000));
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
        return new Quarantine(full(maxTtl), why + "; leases of an earlier life may last up to " + full(maxTtl));
    }
}
