// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses {@code lock:jdbc:...}. The text after {@code lock:} is the driver's and stays as it is, but for the parameters
 * {@code lock.<option>} after one of {@code ? & ;}, which are taken out. What a driver lets stand inside a value, as
 * {@code {a;b}} and {@code a\;b}, separates nothing.
 */
final class OpaqueUrl {
    private static final Pattern DRIVER = Pattern.compile("jdbc:([A-Za-z][A-Za-z0-9+.-]*):.*", Pattern.DOTALL);
    private static final String OURS = "lock.";
    private static final int START = "lock:".length();

    private final UrlText text;
    private final String raw;
    private final StringBuilder theirs = new StringBuilder();
    private final Map<String, String> options = new LinkedHashMap<>();
    private final String driver;

    /** Parses the URL of that text. */
    OpaqueUrl(UrlText text) {
        this.text = text;
        this.raw = text.raw();
        Matcher matcher = DRIVER.matcher(raw.substring(START));
        if (!matcher.matches()) {
            throw text.refuse("names no JDBC driver after lock:jdbc:");
        }
        driver = matcher.group(1);
        split();
    }

    /** The word after {@code jdbc:}. */
    String driver() {
        return driver;
    }

    /** What the driver gets. */
    String url() {
        return theirs.toString();
    }

    /** Our options, decoded. */
    Map<String, String> options() {
        return Collections.unmodifiableMap(options);
    }

    private void split() {
        // The ? of a dropped first parameter goes to the next one that stays.
        char pending = 0;
        int from = START;
        while (from < raw.length()) {
            int next = separatorAfter(from);
            boolean separated = isSeparator(raw.charAt(from));
            if (separated && raw.startsWith(OURS, from + 1)) {
                option(from + 1 + OURS.length(), next);
                if (raw.charAt(from) == '?') {
                    pending = '?';
                }
            } else if (separated && pending != 0) {
                theirs.append(pending).append(raw, from + 1, next);
                pending = 0;
            } else {
                theirs.append(raw, from, next);
            }
            from = next;
        }
    }

    private void option(int start, int end) {
        int equals = text.indexOf('=', start, end);
        if (equals == end) {
            throw text.refuse("has a parameter lock.<option> without = at index " + (start - OURS.length()));
        }
        String name = raw.substring(start, equals);
        if (name.isEmpty()) {
            throw text.refuse("has a parameter lock. without an option's name at index " + (start - OURS.length()));
        }
        if (options.put(name, text.decode(equals + 1, end, "a parameter lock.<option>")) != null) {
            throw text.refuse(
                    "has a parameter lock.<option> twice, the second time at index " + (start - OURS.length()));
        }
    }

    /** Returns the index of the next separator behind the one at {@code from}, or the end. */
    private int separatorAfter(int from) {
        for (int i = from + 1; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '\\') {
                i++;
            } else if (c == '{' && raw.charAt(i - 1) == '=') {
                int close = raw.indexOf('}', i);
                i = close < 0 ? i : close;
            } else if (isSeparator(c)) {
                return i;
            }
        }
        return raw.length();
    }

    private static boolean isSeparator(char c) {
        return c == '?' || c == '&' || c == ';';
    }
}
