// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.trace;

import io.keyway.lock.peer.session.SessionFrame.TracePage;
import io.keyway.lock.peer.wire.LogText;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The last events of one process, a member or a client, as lines of text; older ones are forgotten. A line holds names,
 * numbers and tokens: no secret, no metadata of an owner. At most some 20 MB. Thread-safe.
 *
 * <p>Fields are separated by tabs. The first line of a page says whose it is; each further one has a number, a time in
 * nanoseconds since 1970, a kind, and what the kind has.
 */
public final class TraceLog {
    /** The first word of each page, which changes when a reader of this one would be misled. */
    public static final String FORMAT = "keyway-trace-1";

    /** Whose events these are. */
    public enum Role {
        MEMBER("member"),
        CLIENT("client");

        private final String word;

        Role(String word) {
            this.word = word;
        }

        String word() {
            return word;
        }
    }

    /** What a line tells. */
    enum Kind {
        /** A frame left: the other end, what is equal at both ends, logical clock, locks, text. */
        SENT("out"),
        /** A frame came: as before. */
        CAME("in"),
        /** Something happened here: locks, text. */
        HERE("here"),
        /** A bar begins: belief or authority, lock, token, text. */
        BEGINS("+"),
        /** A bar ends: as before, and when it began. */
        ENDS("-"),
        /** A bar that has not ended: as before. */
        LASTS("="),
        /** The name of whoever has that incarnation. */
        NAME("who");

        private final String word;

        Kind(String word) {
            this.word = word;
        }
    }

    /** How many events are kept. */
    public static final int EVENTS = 32_768;
    /** The most bytes of a page. */
    public static final int PAGE = 48 * 1024;

    /** Characters of the events of a page, and of what it ends with; a character has three bytes at most. */
    private static final int PART = PAGE / 6;

    private static final int LONGEST = 600;
    private static final int LONGEST_LINE = 4_000;
    private static final int MOST_NAMES = 10_000;
    private static final SecureRandom IDS = new SecureRandom();

    private record Begun(long at, String fields) {}

    private final String id = Long.toHexString(IDS.nextLong());
    private final Role role;
    private final String name;
    private final LongSupplier clock;
    private final long offset;
    private final String[] lines;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Begun> open = new LinkedHashMap<>();
    private final Map<String, String> names = new LinkedHashMap<>();
    private long next;

    /** An empty log of the process of that name. */
    public TraceLog(Role role, String name) {
        this(role, name, EVENTS, System::nanoTime, sinceEpoch(Instant.now()) - System.nanoTime());
    }

    /**
     * An empty log on another clock.
     *
     * @param capacity how many events are kept
     * @param offset what makes nanoseconds since 1970 of the clock's
     */
    TraceLog(Role role, String name, int capacity, LongSupplier clock, long offset) {
        this.role = role;
        this.name = shown(name);
        this.lines = new String[capacity];
        this.clock = clock;
        this.offset = offset;
    }

    private static long sinceEpoch(Instant instant) {
        return instant.getEpochSecond() * 1_000_000_000 + instant.getNano();
    }

    private long now() {
        return clock.getAsLong() + offset;
    }

    /** Text that stands in one field. */
    static String shown(String text) {
        return LogText.shown(text, LONGEST);
    }

    /** Something happened in this process. */
    public void here(String locks, String text) {
        add(Kind.HERE, shown(locks) + '\t' + shown(text));
    }

    void add(Kind kind, String fields) {
        lock.lock();
        try {
            keep(now(), kind, fields);
        } finally {
            lock.unlock();
        }
    }

    private void keep(long at, Kind kind, String fields) {
        String line = next + "\t" + at + '\t' + kind.word + '\t' + fields;
        lines[(int) (next % lines.length)] = line.length() <= LONGEST_LINE ? line : line.substring(0, LONGEST_LINE);
        next++;
    }

    /** A bar begins, unless it has. */
    void begins(String bar, String fields) {
        lock.lock();
        try {
            if (!open.containsKey(bar)) {
                long at = now();
                open.put(bar, new Begun(at, fields));
                keep(at, Kind.BEGINS, fields);
            }
        } finally {
            lock.unlock();
        }
    }

    /** A bar ends, unless it has. */
    void ends(String bar) {
        lock.lock();
        try {
            Begun begun = open.remove(bar);
            if (begun != null) {
                keep(now(), Kind.ENDS, begun.fields() + '\t' + begun.at());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whoever has that incarnation is called so. */
    void named(String incarnation, String called) {
        lock.lock();
        try {
            String said = shown(called);
            if (said.equals(names.put(incarnation, said))) {
                return;
            }
            keep(now(), Kind.NAME, incarnation + '\t' + said);
            if (names.size() > MOST_NAMES) {
                Iterator<String> oldest = names.keySet().iterator();
                oldest.next();
                oldest.remove();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Bars that are open are so no longer: nobody watches them from now on. */
    public void stop() {
        lock.lock();
        try {
            open.clear();
        } finally {
            lock.unlock();
        }
    }

    /**
     * A part of the log that begins at that event, or at the first one that is left. The last page ends with the bars
     * that are open and the names that are known, as many as there is room for: what began before the first event.
     *
     * @param request goes back with it
     * @param on whether this process records now
     */
    public TracePage page(long request, boolean on, long from) {
        lock.lock();
        try {
            long at = Math.min(next, Math.max(from, Math.max(0, next - lines.length)));
            StringBuilder text = new StringBuilder(head(at));
            while (at < next && text.length() + lines[(int) (at % lines.length)].length() < PART) {
                text.append(lines[(int) (at % lines.length)]).append('\n');
                at++;
            }
            if (at == next) {
                text.append(tail());
            }
            return new TracePage(request, on, at, at < next, text.toString());
        } finally {
            lock.unlock();
        }
    }

    /** Lines, and the number of the first event that is not in them. */
    record Part(String text, long next) {}

    /** All that is left from that event on. */
    Part since(long from) {
        lock.lock();
        try {
            StringBuilder text = new StringBuilder();
            for (long at = Math.max(from, Math.max(0, next - lines.length)); at < next; at++) {
                text.append(lines[(int) (at % lines.length)]).append('\n');
            }
            return new Part(text.toString(), next);
        } finally {
            lock.unlock();
        }
    }

    /** What a file begins with whose first event is that one, and what it may end with. */
    String frame(long first) {
        lock.lock();
        try {
            return head(first) + tail();
        } finally {
            lock.unlock();
        }
    }

    private String head(long first) {
        return String.join(
                        "\t",
                        FORMAT,
                        id,
                        role.word(),
                        name,
                        Long.toString(ProcessHandle.current().pid()),
                        Long.toString(now()),
                        Long.toString(first))
                + '\n';
    }

    private StringBuilder tail() {
        StringBuilder text = new StringBuilder();
        long at = now();
        names.forEach((incarnation, called) -> line(text, at, Kind.NAME, incarnation + '\t' + called));
        open.values().forEach(each -> line(text, at, Kind.LASTS, each.fields() + '\t' + each.at()));
        return text;
    }

    private static void line(StringBuilder text, long at, Kind kind, String fields) {
        if (text.length() + fields.length() < PART) {
            text.append("-1\t")
                    .append(at)
                    .append('\t')
                    .append(kind.word)
                    .append('\t')
                    .append(fields)
                    .append('\n');
        }
    }
}
