// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.LockKey;
import io.keyway.lock.peer.kernel.Key;

/**
 * The addresses of the machines of a lock service: a lock's is its name; that of a semaphore is its name and a
 * character that no name has, which brings it right behind the lock of that name; the others could not be either.
 */
public final class LockKeys {
    /** No name of a lock comes before it, and the addresses of all other machines do. */
    public static final String FIRST_NAME = "\u0001";

    private static final char SEMAPHORE = '\u0000';

    private LockKeys() {}

    /** The lock of that name. */
    public static Key lock(int algorithm, String name) {
        return new Key(algorithm, name);
    }

    /** The semaphore of that name. */
    public static Key semaphore(int algorithm, String name) {
        return new Key(algorithm, name + SEMAPHORE);
    }

    /** Whether it is that of a semaphore. */
    public static boolean isSemaphore(Key key) {
        return ofSemaphore(key.id()) && isNamed(key);
    }

    private static boolean ofSemaphore(String id) {
        return !id.isEmpty() && id.charAt(id.length() - 1) == SEMAPHORE;
    }

    /** What has the address of that id, as users call it. */
    public static LockKey named(String id) {
        return ofSemaphore(id) ? LockKey.semaphore(id.substring(0, id.length() - 1)) : LockKey.lock(id);
    }

    /** Whether it is that of a lock or of a semaphore. */
    public static boolean isNamed(Key key) {
        return !key.id().isEmpty() && key.id().charAt(0) != '\u0000';
    }

    /** The names that are not at rest at a member; at a client, whoever asks for them. */
    public static Key directory(int algorithm) {
        return new Key(algorithm, "");
    }

    /** What a member says of its cluster; at a client, whoever follows it. */
    public static Key cluster(int algorithm) {
        return new Key(algorithm, "\u0000cluster");
    }

    /** The cached grants of a client. */
    public static Key cache(int algorithm) {
        return new Key(algorithm, "\u0000cache");
    }
}
