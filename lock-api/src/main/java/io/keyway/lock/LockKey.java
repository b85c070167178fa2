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

    /** Returns the name with its kind before it, for messages: {@code lock orders/7}. */
    @Override
    public String toString() {
        return (kind == Kind.LOCK ? "lock " : "semaphore ") + name;
    }
}
