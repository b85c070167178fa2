// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.peer.kernel.Key;

/** The addresses of the machines of a lock service: a lock's is its name; the others could not be names. */
public final class LockKeys {
    /** No name of a lock comes before it, and the addresses of all other machines do. */
    public static final String FIRST_NAME = "\u0001";

    private LockKeys() {}

    /** The lock of that name. */
    public static Key lock(int algorithm, String name) {
        return new Key(algorithm, name);
    }

    /** Whether it is that of a lock. */
    public static boolean isLock(Key key) {
        return !key.id().isEmpty() && key.id().charAt(0) != '\u0000';
    }

    /** The names that are not at rest at a member; at a client, whoever asks for them. */
    public static Key directory(int algorithm) {
        return new Key(algorithm, "");
    }

    /** The cached grants of a client. */
    public static Key cache(int algorithm) {
        return new Key(algorithm, "\u0000cache");
    }
}
