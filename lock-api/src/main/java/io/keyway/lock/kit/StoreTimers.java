// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What of a {@link StoreMachine} is due when, and how long what failed backs off. */
final class StoreTimers {

    private static final long FIRST_RETRY = 50_000_000L;
    private static final long LAST_RETRY = 2_000_000_000L;
    private static final long LATE_RETRY = 15_000_000_000L;

    private final SplittableRandom draws;
    private final PriorityQueue<Timer> timers = new PriorityQueue<>();

    /** {@code seed} draws the jitter. */
    StoreTimers(long seed) {
        this.draws = new SplittableRandom(seed);
    }

    OptionalLong nextDue() {
        while (!timers.isEmpty() && stale(timers.peek())) {
            timers.poll();
        }
        return timers.isEmpty() ? OptionalLong.empty() : OptionalLong.of(timers.peek().at);
    }

    /** Hands over what is due, also what becomes due by that. */
    void run(long now, Consumer<StoreEntry> entries, Consumer<RenewalGroup> groups) {
        while (!timers.isEmpty() && (stale(timers.peek()) || now - timers.peek().at >= 0)) {
            Timer timer = timers.poll();
            if (stale(timer)) {
                continue;
            }
            if (timer.entry != null) {
                entries.accept(timer.entry);
            } else if (timer.group != null) {
                groups.accept(timer.group);
            }
        }
    }

    void arm(StoreEntry entry, long at) {
        entry.armed = true;
        entry.due = at;
        timers.add(new Timer(at, entry, null));
    }

    void arm(RenewalGroup group, long at) {
        if (!group.armed || group.due != at) {
            group.armed = true;
            group.due = at;
            timers.add(new Timer(at, null, group));
        }
    }

    /** The entry is called again when it has backed off. */
    void retry(StoreEntry entry, long now) {
        entry.failures++;
        arm(entry, now + backOff(entry.failures));
    }

    /** As {@link #retry}, of what has failed for long; many may have. */
    void retryLater(StoreEntry entry, long now) {
        entry.failures++;
        arm(entry, now + jittered(LATE_RETRY));
    }

    long backOff(int failures) {
        return jittered(Math.min(LAST_RETRY, FIRST_RETRY << Math.min(failures - 1, 10)));
    }

    /** Between three quarters of {@code span} and all of it, so that clients do not stay in step. */
    long jittered(long span) {
        return span - draws.nextLong(Math.max(1, span / 4));
    }

    private static boolean stale(Timer timer) {
        StoreEntry entry = timer.entry;
        if (entry != null) {
            return !entry.armed || entry.due != timer.at;
        }
        RenewalGroup group = timer.group;
        return group == null || !group.armed || group.due != timer.at;
    }

    /** An armed entry or group; stale once that was armed anew. */
    private record Timer(
            long at, @Nullable StoreEntry entry, @Nullable RenewalGroup group) implements Comparable<Timer> {

        @Override
        public int compareTo(Timer other) {
            return Long.signum(at - other.at);
        }
    }
}
