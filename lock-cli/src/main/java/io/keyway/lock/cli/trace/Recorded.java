// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What one process wrote down, of all pages and files that are there of it. */
final class Recorded {
    /** Separates the names of locks in a field. */
    private static final String BETWEEN = "\u001f";

    private static final Pattern HANDSHAKE = Pattern.compile("/(Hello|Challenge|Proof|Welcome|Refuse)$");

    /** Where the fields of a kind stand. */
    private static final int PEER = 0;

    private static final int KEY = 1;
    private static final int CLOCK = 2;
    private static final int LOCKS = 3;
    private static final int TEXT = 4;

    /** Messages by which somebody looks, and their answers. */
    private static final Set<String> QUESTIONS = Set.of("Show", "Query", "Use", "Status");

    /** One event. */
    record Entry(long number, long at, String kind, List<String> fields) {
        boolean isFrame() {
            return isSent() || kind.equals("in");
        }

        boolean isSent() {
            return kind.equals("out");
        }

        /** Whoever is at the other end of a frame: an incarnation, a member's id, or empty. */
        String peer() {
            return fields.get(PEER);
        }

        /** What is equal at both ends of a frame. */
        String key() {
            return fields.get(KEY);
        }

        long clock() {
            return parsed(fields.get(CLOCK));
        }

        boolean isAbout(String lock) {
            return List.of(fields.get(isFrame() ? LOCKS : 0).split(BETWEEN)).contains(lock);
        }

        /** Whether one of its messages is of that type. */
        boolean says(String type) {
            return isFrame() && Arrays.stream(text().split("; ")).anyMatch(each -> each.split(" ", 2)[0].equals(type));
        }

        /** Whether it acknowledges: what names no lock, and is what a grant of Lamport's queue waits for. */
        boolean isAck() {
            return says("Ack");
        }

        /** Whether it is a frame that carries nothing. */
        boolean isHeartbeat() {
            return isFrame() && text().startsWith("heartbeat");
        }

        /** Whether it says nothing of a lock: a frame of questions of who holds, or their answers, or a timer. */
        boolean isIdle() {
            return isFrame()
                    ? Arrays.stream(text().split("; ")).allMatch(each -> QUESTIONS.contains(each.split(" ", 2)[0]))
                    : text().equals("its timer");
        }

        /** Whether it belongs to the beginning of a link. */
        boolean isHandshake() {
            return isFrame() && HANDSHAKE.matcher(key()).find();
        }

        String text() {
            return fields.get(isFrame() ? TEXT : 1);
        }
    }

    /** A hold of a lock; it may not have ended. */
    static final class Held {
        final boolean belief;
        final String lock;
        final long token;
        final String text;
        final long from;
        /** 0 while it has not ended. */
        long to;

        Held(boolean belief, String lock, long token, String text, long from) {
            this.belief = belief;
            this.lock = lock;
            this.token = token;
            this.text = text;
            this.from = from;
        }
    }

    final boolean member;
    final String name;
    /** The names of those whose incarnations are known; of a client's own ones, empty. */
    final Map<String, String> names = new LinkedHashMap<>();

    private final TreeMap<Long, Entry> entries = new TreeMap<>();
    private final Map<String, Held> bars = new LinkedHashMap<>();
    private long last;

    Recorded(boolean member, String name) {
        this.member = member;
        this.name = name;
    }

    /** Takes a line of it; one that was cut off says nothing. */
    void take(List<String> fields) {
        if (fields.size() < 4) {
            return;
        }
        long number = parsed(fields.get(0));
        long at = parsed(fields.get(1));
        String kind = fields.get(2);
        List<String> rest = fields.subList(3, fields.size());
        switch (kind) {
            case "out", "in" -> keep(number, at, kind, rest, TEXT + 1);
            case "here" -> keep(number, at, kind, rest, 2);
            case "who" -> names.put(rest.get(0), rest.size() < 2 ? "" : rest.get(1));
            case "+" -> bar(rest, 4, at);
            case "-" -> {
                Held ended = bar(rest, 5, at);
                if (ended != null) {
                    ended.to = at;
                }
            }
            case "=" -> bar(rest, 5, at);
            default -> {
                return; // of a later version
            }
        }
        heard(at);
    }

    private void keep(long number, long at, String kind, List<String> fields, int least) {
        if (fields.size() >= least && number >= 0) {
            entries.put(number, new Entry(number, at, kind, List.copyOf(fields)));
        }
    }

    private @Nullable Held bar(List<String> fields, int least, long at) {
        if (fields.size() < least) {
            return null;
        }
        long from = least == 5 ? parsed(fields.get(4)) : at;
        return bars.computeIfAbsent(
                fields.get(0) + " " + fields.get(1) + " " + fields.get(2) + " " + from,
                fresh -> new Held(
                        fields.get(0).equals("belief"), fields.get(1), parsed(fields.get(2)), fields.get(3), from));
    }

    /** It lived at that time. */
    void heard(long at) {
        last = Math.max(last, at);
    }

    /** In the order in which they happened. */
    List<Entry> entries() {
        return new ArrayList<>(entries.values());
    }

    Collection<Held> bars() {
        return bars.values();
    }

    /** When it was heard for the last time. */
    long last() {
        return last;
    }

    static long parsed(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return 0; // cut off
        }
    }
}
