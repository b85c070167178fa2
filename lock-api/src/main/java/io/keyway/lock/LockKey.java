// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Objects;

/**
 * What a grant is a grant of: a lock and a semaphore of one name are separate things.
 *
 * @param kind lock or semaphore
 * @param name the name
 */
public record LockKey(Kind kind, LockName name) {

    /** The two kinds of things that have names. */
    public enum Kind {
        /** A lock, with the modes EXCLUSIVE and SHARED. */
        LOCK,
        /** A semaphore, with permits. */
        SEMAPHORE
    }

    /**
     * Checks that neither part is null.
     *
     * @param kind see the record
     * @param name see the record
     */
    public LockKey {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(name, "name");
    }

    /**
     * {@return the key of the lock of that name}
     *
     * @param name the name of the lock or semaphore
     */
    public static LockKey lock(LockName name) {
        return new LockKey(Kind.LOCK, name);
    }

    /**
     * {@return the key of the lock of that name}
     *
     * @param name the name of the lock or semaphore
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     */
    public static LockKey lock(String name) {
        return lock(LockName.of(name));
    }

    /**
     * {@return the key of the semaphore of that name}
     *
     * @param name the name of the lock or semaphore
     */
    public static LockKey semaphore(LockName name) {
        return new LockKey(Kind.SEMAPHORE, name);
    }

    /**
     * {@return the key of the semaphore of that name}
     *
     * @param name the name of the lock or semaphore
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     */
    public static LockKey semaphore(String name) {
        return semaphore(LockName.of(name));
    }

    /**
     * {@return the key as one word for stores with a narrower alphabet, or whose keys are a tree: the name's
     * {@link LockName#escaped() escaped} form with {@code ,} in place of {@code /}, a colon, and the kind} No flat key
     * is the beginning of another.
     */
    public String flat() {
        return name.escaped().replace('/', ',') + ":" + kind;
    }

    /**
     * {@return what the {@link #flat()} keys of all names that begin with a text begin with, and no others: in a store
     * that orders its keys they lie side by side}
     *
     * @param prefix the beginning of names, of whole characters; may be empty or end within a segment
     */
    public static String flatPrefix(String prefix) {
        return NameSyntax.escape(prefix).replace('/', ',');
    }

    /**
     * {@return the key of which {@code text} is the {@link #flat()} form}
     *
     * @param text the flat form
     * @throws IllegalArgumentException if it is not such a form
     */
    public static LockKey unflat(String text) {
        int colon = text.indexOf(':');
        LockKey key = colon < 0
                ? null
                : new LockKey(
                        Kind.valueOf(text.substring(colon + 1)),
                        LockName.unescape(text.substring(0, colon).replace(',', '/')));
        if (key == null || !key.flat().equals(text)) {
            throw new IllegalArgumentException("not the flat form of a key: " + NameSyntax.quoted(text));
        }
        return key;
    }

    /** As a record's own, which costs a JVM that has just started dozens of calls: each request compares keys. */
    @Override
    public boolean equals(Object other) {
        return other instanceof LockKey key && kind == key.kind && name.equals(key.name);
    }

    @Override
    public int hashCode() {
        return 31 * name.hashCode() + (kind == Kind.LOCK ? 0 : 1);
    }

    /** Returns the name with its kind before it, for messages: {@code lock orders/7}. */
    @Override
    public String toString() {
        return (kind == Kind.LOCK ? "lock " : "semaphore ") + name;
    }
}
