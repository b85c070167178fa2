// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

/** A lock library, or the least that any library on that store would have to do. Thread-safe. */
public interface Contender extends AutoCloseable {

    /** Returns the name in the table. */
    String name();

    /** Takes the lock of that name and waits for it and for the store's reply. */
    Hold take(String lock) throws Exception;

    @Override
    void close();

    /** A lock that is held. */
    @FunctionalInterface
    interface Hold {
        /** Gives it back, and waits for the store's reply. */
        void free() throws Exception;
    }

    /** Opens a contender; each is a client of its own. */
    @FunctionalInterface
    interface Opener {
        /** Opens it. */
        Contender open() throws Exception;
    }
}
