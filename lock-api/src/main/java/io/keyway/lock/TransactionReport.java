// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a transaction holds, what it waits for, and who is in the way; from {@link LockTransaction#explain()}.
 *
 * @param transaction its {@link LockTransaction#id()}
 * @param status how it stands
 * @param held its locks
 * @param waits what it waits for, in the order in which it asked
 * @param deadlocks as {@link LockTransaction#deadlocks()}
 */
public record TransactionReport(
        String transaction,
        LockTransaction.Status status,
        List<Held> held,
        List<Wait> waits,
        List<Deadlock> deadlocks) {

    /**
     * A lock that is held, or was granted while the transaction waits for more.
     *
     * @param lock which one
     * @param mode its mode
     * @param token its fencing token
     */
    public record Held(LockName lock, LockMode mode, long token) {}

    /**
     * A lock that is waited for.
     *
     * @param lock which one
     * @param mode the mode that is asked for
     * @param waited for how long
     * @param shown who holds it and who waits for it, this transaction among them; empty if nobody does any more
     */
    public record Wait(LockName lock, LockMode mode, Duration waited, Optional<LockStatus> shown) {}

    /**
     * Copies the lists.
     *
     * @param transaction see the record
     * @param status see the record
     * @param held see the record
     * @param waits see the record
     * @param deadlocks see the record
     */
    public TransactionReport {
        Objects.requireNonNull(transaction, "transaction");
        Objects.requireNonNull(status, "status");
        held = List.copyOf(held);
        waits = List.copyOf(waits);
        deadlocks = List.copyOf(deadlocks);
    }

    /** {@return the report in lines, for people} */
    public String text() {
        StringBuilder text = new StringBuilder("transaction " + transaction + ": " + status);
        for (Held each : held) {
            text.append("\n  has ")
                    .append(each.lock())
                    .append(' ')
                    .append(each.mode())
                    .append(", token ")
                    .append(each.token());
        }
        for (Wait wait : waits) {
            text.append("\n  waits for ")
                    .append(wait.lock())
                    .append(' ')
                    .append(wait.mode())
                    .append(since(wait.waited()));
            wait.shown().ifPresent(shown -> {
                for (LockStatus.Holder holder : shown.holders()) {
                    text.append("\n    held by ").append(party(holder.client(), holder.mode(), holder.since()));
                }
                for (LockStatus.Waiter waiter : shown.waiters()) {
                    text.append("\n    waited for by ").append(party(waiter.client(), waiter.mode(), waiter.since()));
                }
            });
        }
        for (Deadlock deadlock : deadlocks) {
            text.append("\n  deadlock: ").append(deadlock);
        }
        return text.toString();
    }

    /**
     * {@return the report as a picture, a document of SVG that a browser shows} Arrows lead from whoever waits to the
     * lock that it waits for, and from a lock to whoever holds it, with the mode and since when; each deadlock is a row
     * of its own, in which who gave way comes first.
     */
    public String picture() {
        ReportPicture picture = new ReportPicture(transaction, status.name());
        held.forEach(each -> picture.held(each.lock(), each.mode(), each.token()));
        waits.forEach(each -> picture.wait(each.lock(), each.mode(), each.waited(), each.shown()));
        deadlocks.forEach(picture::circle);
        return picture.document();
    }

    private static String party(String client, LockMode mode, Duration since) {
        return client + " " + mode + since(since);
    }

    private static String since(Duration time) {
        return ", since " + time.toMillis() + " ms";
    }

    /** {@return the report as a JSON object, in one line; times in milliseconds, tokens as strings} */
    public String json() {
        StringBuilder json = new StringBuilder("{\"transaction\":");
        quote(transaction, json).append(",\"status\":");
        quote(status.name(), json).append(",\"held\":[");
        String comma = "";
        for (Held each : held) {
            party(comma, each.lock().toString(), "lock", each.mode(), json).append(",\"token\":");
            quote(Long.toString(each.token()), json).append('}');
            comma = ",";
        }
        json.append("],\"waits\":[");
        comma = "";
        for (Wait wait : waits) {
            party(comma, wait.lock().toString(), "lock", wait.mode(), json).append(millis(wait.waited()));
            json.append(",\"holders\":[");
            String next = "";
            for (LockStatus.Holder each : wait.shown().map(LockStatus::holders).orElse(List.of())) {
                party(next, each.client(), "client", each.mode(), json).append(millis(each.since()));
                token(each.token(), json).append('}');
                next = ",";
            }
            json.append("],\"waiters\":[");
            next = "";
            for (LockStatus.Waiter each : wait.shown().map(LockStatus::waiters).orElse(List.of())) {
                party(next, each.client(), "client", each.mode(), json)
                        .append(millis(each.since()))
                        .append('}');
                next = ",";
            }
            json.append("]}");
            comma = ",";
        }
        json.append("],\"deadlocks\":[");
        comma = "";
        for (Deadlock each : deadlocks) {
            deadlock(comma, each, json);
            comma = ",";
        }
        return json.append("]}").toString();
    }

    private static void deadlock(String comma, Deadlock deadlock, StringBuilder json) {
        json.append(comma).append("{\"way\":");
        quote(deadlock.way().name(), json).append(",\"gaveUp\":");
        quote(deadlock.gaveUp().toString(), json).append(",\"cycle\":[");
        String next = "";
        for (Deadlock.Waiter each : deadlock.cycle()) {
            json.append(next).append("{\"transaction\":");
            quote(each.transaction(), json).append(",\"client\":");
            quote(each.owner(), json).append(",\"waitsFor\":");
            quote(each.waitsFor().toString(), json)
                    .append(millis(each.waited()))
                    .append('}');
            next = ",";
        }
        json.append("]}");
    }

    private static StringBuilder party(String comma, String who, String what, LockMode mode, StringBuilder json) {
        json.append(comma).append("{\"").append(what).append("\":");
        quote(who, json).append(",\"mode\":");
        return quote(mode.name(), json);
    }

    private static String millis(Duration time) {
        return ",\"sinceMs\":" + time.toMillis();
    }

    private static StringBuilder token(OptionalLong token, StringBuilder json) {
        if (token.isPresent()) {
            json.append(",\"token\":");
            quote(Long.toString(token.getAsLong()), json);
        }
        return json;
    }

    private static StringBuilder quote(String text, StringBuilder json) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"');
    }
}
