// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Lock statuses as JSON (RFC 8259), on one line. */
final class Json {
    private final StringBuilder out = new StringBuilder();

    private Json() {}

    static String array(List<LockStatus> statuses) {
        Json json = new Json();
        json.list(statuses, json::status);
        return json.out.toString();
    }

    private void status(LockStatus status) {
        out.append("{\"kind\":");
        text(status.key().kind().name());
        out.append(",\"name\":");
        text(status.key().name().toString());
        out.append(",\"holders\":");
        list(
                status.holders(),
                holder -> participant(
                        holder.client(),
                        holder.mode(),
                        holder.permits(),
                        holder.token(),
                        holder.since(),
                        holder.kept(),
                        holder.metadata()));
        out.append(",\"waiters\":");
        list(status.waiters(), this::waiter);
        if (!status.softWriters().isEmpty()) {
            out.append(",\"softWriters\":");
            list(status.softWriters(), this::waiter);
        }
        if (status.key().kind() == LockKey.Kind.SEMAPHORE) {
            out.append(",\"buckets\":");
            list(status.buckets(), out::append);
        }
        out.append('}');
    }

    private void waiter(LockStatus.Waiter waiter) {
        participant(
                waiter.client(),
                waiter.mode(),
                waiter.permits(),
                waiter.token(),
                waiter.since(),
                Optional.empty(),
                waiter.metadata());
    }

    private void participant(
            String client,
            LockMode mode,
            int permits,
            OptionalLong token,
            Duration since,
            Optional<Duration> kept,
            Map<String, String> metadata) {
        out.append("{\"client\":");
        text(client);
        out.append(",\"mode\":");
        text(mode.name());
        out.append(",\"permits\":").append(permits);
        out.append(",\"token\":").append(token.isPresent() ? Long.toString(token.getAsLong()) : "null");
        out.append(",\"sinceMs\":").append(since.toMillis());
        kept.ifPresent(left -> out.append(",\"keptMs\":").append(left.toMillis()));
        out.append(",\"metadata\":{");
        String comma = "";
        for (Map.Entry<String, String> entry : new TreeMap<>(metadata).entrySet()) {
            out.append(comma);
            text(entry.getKey());
            out.append(':');
            text(entry.getValue());
            comma = ",";
        }
        out.append("}}");
    }

    private <T> void list(List<T> elements, Consumer<T> each) {
        out.append('[');
        for (int i = 0; i < elements.size(); i++) {
            if (i > 0) {
                out.append(',');
            }
            each.accept(elements.get(i));
        }
        out.append(']');
    }

    private void text(String value) {
        out.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                // Escaped, a surrogate without its pair stays legible.
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
