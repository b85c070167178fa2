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

/** Lock statuses for people: a line per holder, one per waiter in the order of the queue, one per soft writer. */
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
            for (LockStatus.Waiter writer : status.softWriters()) {
                out.append("  yielding    ");
                participant(out, writer.client(), writer.mode(), writer.permits(), writer.since());
                rest(out, writer.token(), writer.metadata());
            }
        }
        return out.toString();
    }

    private static void participant(StringBuilder out, String client, LockMode mode, int permits, Duration since) {
        out.append(printable(client)).append(" for ").append(Durations.show(since));
        String how = how(mode, permits);
        out.append(how.isEmpty() ? "" : ", ").append(how);
    }

    /** In which mode, for people; empty for EXCLUSIVE, which everybody expects. */
    static String how(LockMode mode, int permits) {
        return switch (mode) {
            case EXCLUSIVE -> "";
            case SHARED -> "shared";
            case PERMITS -> permits == 1 ? "1 permit" : permits + " permits";
            case INTENT_SHARED -> "passing through to read below";
            case INTENT_EXCLUSIVE -> "passing through to write below";
            case TREE_SHARED -> "shared with all below";
            case TREE_SHARED_INTENT_EXCLUSIVE -> "shared with all below, passing through to write below";
            case TREE_EXCLUSIVE -> "with all below";
        };
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
