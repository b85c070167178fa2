// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * A row as text: the version of this format, and then one line for each entry, its fields joined by blanks in the order
 * of {@link #append}; what the entry was before an upgrade follows in the same line. A star is {@link Entry#STAMP}.
 */
final class RowText {

    private static final String FORMAT = "rows2";
    private static final String NOTHING = "-";

    private RowText() {}

    static String write(Row row) {
        StringBuilder text = new StringBuilder(FORMAT);
        for (Entry entry : row.entries()) {
            text.append('\n');
            append(text, entry);
            Entry before = entry.before();
            if (before != null) {
                text.append(' ');
                append(text, before);
            }
        }
        return text.toString();
    }

    private static void append(StringBuilder text, Entry entry) {
        Request request = entry.request();
        text.append(String.join(
                " ",
                entry.state().name(),
                escape(entry.client()),
                Long.toString(request.id()),
                request.mode().name(),
                Integer.toString(request.permits()),
                Integer.toString(request.capacity()),
                Integer.toString(request.perResource()),
                Long.toString(request.ttl().toNanos()),
                Boolean.toString(request.queue()),
                Long.toString(request.holdAtLeast().toNanos()),
                quiet(request.quiet()),
                number(entry.token()),
                number(entry.since()),
                number(entry.heard()),
                Long.toString(entry.lasts()),
                escape(request.owner().text()),
                escape(entry.reason())));
    }

    static Row read(LockKey key, String text) {
        String[] lines = text.split("\n", -1);
        if (!lines[0].equals(FORMAT)) {
            throw new IllegalArgumentException("the row of " + key + " begins with \"" + lines[0] + "\" and not with "
                    + FORMAT + ": another program, or a later version, has written it");
        }
        List<Entry> entries = new ArrayList<>(lines.length - 1);
        for (int i = 1; i < lines.length; i++) {
            Iterator<String> fields = List.of(lines[i].split(" ", -1)).iterator();
            try {
                Entry entry = next(key, fields);
                entries.add(fields.hasNext() ? before(entry, next(key, fields)) : entry);
            } catch (RuntimeException e) {
                throw new IllegalArgumentException(
                        "the row of " + key + " has a line that is no entry: " + lines[i], e);
            }
        }
        return new Row(entries);
    }

    private static Entry before(Entry entry, Entry was) {
        return new Entry(
                entry.client(),
                entry.request(),
                entry.state(),
                entry.token(),
                entry.since(),
                entry.heard(),
                entry.lasts(),
                entry.reason(),
                was);
    }

    private static Entry next(LockKey key, Iterator<String> fields) {
        Entry.State state = Entry.State.valueOf(fields.next());
        String client = unescape(fields.next());
        long id = Long.parseLong(fields.next());
        LockMode mode = LockMode.valueOf(fields.next());
        int permits = Integer.parseInt(fields.next());
        int capacity = Integer.parseInt(fields.next());
        int perResource = Integer.parseInt(fields.next());
        Duration ttl = Duration.ofNanos(Long.parseLong(fields.next()));
        boolean queue = Boolean.parseBoolean(fields.next());
        Duration holdAtLeast = Duration.ofNanos(Long.parseLong(fields.next()));
        Optional<Duration> quiet = quiet(fields.next());
        long token = number(fields.next());
        long since = number(fields.next());
        long heard = number(fields.next());
        long lasts = Long.parseLong(fields.next());
        Owner owner = Owner.parse(unescape(fields.next()));
        Request request =
                new Request(id, key, mode, permits, capacity, ttl, queue, owner, holdAtLeast, perResource, quiet);
        return new Entry(client, request, state, token, since, heard, lasts, unescape(fields.next()), null);
    }

    /** Nothing for a hard writer and all who are none, for a soft one the time without readers. */
    private static String quiet(Optional<Duration> quiet) {
        return quiet.isPresent() ? Long.toString(quiet.get().toNanos()) : NOTHING;
    }

    private static Optional<Duration> quiet(String text) {
        return text.equals(NOTHING) ? Optional.empty() : Optional.of(Duration.ofNanos(Long.parseLong(text)));
    }

    private static String number(long value) {
        return value == Entry.STAMP ? "*" : Long.toString(value);
    }

    private static long number(String text) {
        return text.equals("*") ? Entry.STAMP : Long.parseLong(text);
    }

    private static String escape(String text) {
        return text.isEmpty()
                ? NOTHING
                : URLEncoder.encode(text, StandardCharsets.UTF_8).replace("-", "%2D");
    }

    private static String unescape(String text) {
        return text.equals(NOTHING) ? "" : URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
