// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Lock statuses for people: a line per holder, then a line per waiter in the order of the queue. */
final class StatusText {
    private StatusText() {}

    static String of(List<LockStatus> statuses) {
        StringBuilder out = new StringBuilder();
        for (LockStatus status : statuses) {
            out.append(status.key().name());
            if (status.key().kind() == LockKey.Kind.SEMAPHORE) {
                out.append(" (semaphore)");
                if (!status.buckets().isEmpty()) {
                    out.append(", permits out ").append(status.buckets());
                }
            }
            out.append('\n');
            for (LockStatus.Holder holder : status.holders()) {
                out.append(holder.kept().isPresent() ? "  kept after  " : "  held by     ");
                participant(out, holder.client(), holder.mode(), holder.permits(), holder.since());
                holder.kept().ifPresent(left -> out.append(", free in ").append(Durations.show(left)));
                rest(out, holder.token(), holder.metadata());
            }
            if (status.holders().isEmpty()) {
                out.append("  not held\n");
            }
            int place = 0;
            for (LockStatus.Waiter waiter : status.waiters()) {
                out.append(String.format(Locale.ROOT, "  waiting %2d  ", ++place));
                participant(out, waiter.client(), waiter.mode(), waiter.permits(), waiter.since());
                rest(out, waiter.token(), waiter.metadata());
            }
        }
        return out.toString();
    }

    private static void participant(StringBuilder out, String client, LockMode mode, int permits, Duration since) {
        out.append(printable(client)).append(" for ").append(Durations.show(since));
        switch (mode) {
            case EXCLUSIVE -> {
                // What everybody expects.
            }
            case SHARED -> out.append(", shared");
            case PERMITS -> out.append(permits == 1 ? ", 1 permit" : ", " + permits + " permits");
        }
    }

    private static void rest(StringBuilder out, OptionalLong token, Map<String, String> metadata) {
        if (token.isPresent()) {
            out.append(", token ").append(token.getAsLong());
        }
        for (Map.Entry<String, String> entry : new TreeMap<>(metadata).entrySet()) {
            out.append(", ").append(printable(entry.getKey())).append('=').append(printable(entry.getValue()));
        }
        out.append('\n');
    }

    /** Text of other clients must not move the cursor of this terminal. */
    static String printable(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints().forEach(point -> out.appendCodePoint(Character.isISOControl(point) ? '?' : point));
        return out.toString();
    }
}
