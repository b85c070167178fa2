// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The name of a lock or semaphore: a path of 1 to 16 non-empty segments joined by {@code /}, at most 512 bytes of UTF-8
 * in all, without control characters and unpaired surrogates. Names are compared exactly; the rule is the same on every
 * provider. Rules LK-101 to LK-106.
 */
public final class LockName implements Comparable<LockName> {
    /** The most bytes of UTF-8 in a name. */
    public static final int MAX_BYTES = 512;

    /** The most segments in a name. */
    public static final int MAX_SEGMENTS = 16;

    private final String value;

    private LockName(String value) {
        this.value = value;
    }

    /**
     * {@return the name of that text}
     *
     * @param text the name, as it is to be shown
     * @throws IllegalArgumentException if it breaks the rule above; the message says what is wrong and where
     */
    public static LockName of(String text) {
        NameSyntax.check(text);
        return new LockName(text);
    }

    /** {@return the text; {@link #of} of it equals this name} */
    public String value() {
        return value;
    }

    /** {@return the segments, 1 to 16} */
    public List<String> segments() {
        return List.of(value.split("/", -1));
    }

    /** {@return the length in bytes of UTF-8, 1 to 512} */
    public int bytes() {
        return value.getBytes(StandardCharsets.UTF_8).length;
    }

    /**
     * {@return the name for stores with a narrower alphabet: in each segment every byte of UTF-8 but ASCII letters,
     * digits, {@code -}, {@code _} and a dot that is not the first becomes {@code %} and two upper-case hex digits} The
     * segments stay joined by {@code /}. Different names have different escapes, and {@link #unescape} leads back.
     */
    public String escaped() {
        return NameSyntax.escape(value);
    }

    /**
     * {@return the name of which {@code text} is the {@link #escaped()} form}
     *
     * @param text the escaped form
     * @throws IllegalArgumentException if it is not such a form
     */
    public static LockName unescape(String text) {
        LockName name = of(NameSyntax.unescape(text));
        if (!name.escaped().equals(text)) {
            throw new IllegalArgumentException("not the escaped form of a lock name: " + NameSyntax.quoted(text));
        }
        return name;
    }

    /** Orders by code units, as strings do. */
    @Override
    public int compareTo(LockName other) {
        return value.compareTo(other.value);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LockName name && value.equals(name.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    /** Returns {@link #value()}. */
    @Override
    public String toString() {
        return value;
    }
}
