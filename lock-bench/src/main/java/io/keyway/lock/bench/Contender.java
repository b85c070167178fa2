// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.util.EnumSet;
import java.util.Set;

/** A lock library, or the least that any library on that store would have to do. Thread-safe. */
public interface Contender extends AutoCloseable {

    /** Returns the name in the table. */
    String name();

    /** Takes the lock of that name and waits for it and for the store's reply. */
    Hold take(String lock) throws Exception;

    /** The same in one of its modes, of those that it {@link #offers}. */
    default Hold take(String name, Use use) throws Exception {
        if (use != Use.LOCK) {
            throw new UnsupportedOperationException(name() + " has no " + use);
        }
        return take(name);
    }

    /** Returns whether a client holds that lock: a try that does not wait, and a release if it succeeds. */
    default boolean isTaken(String lock) throws Exception {
        throw new UnsupportedOperationException(name() + " is not asked for it");
    }

    /** Returns what can be taken of it. */
    default Set<Use> offers() {
        return EnumSet.of(Use.LOCK);
    }

    /** Begins a transaction. */
    default Steps begin() {
        throw new UnsupportedOperationException(name() + " has no transactions");
    }

    @Override
    void close();

    /** Locks that one thread takes one after the other, in any order; given back together at the end. */
    interface Steps extends AutoCloseable {
        /** Takes one more and waits for it; false if this is who gives way in a deadlock, and is to end now. */
        boolean take(String lock) throws Exception;

        @Override
        void close();
    }

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
