// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

/**
 * What a session may know of a line without listing it: that the node it has just created is the first, by its number.
 * The recipe does without; it saves a free lock one of three requests.
 */
interface FirstInLine {

    /** How a creation was sent. */
    enum Entry {
        /** With a listing; what is learned from it says nothing about later ones. */
        UNPLEDGED,
        /** With a listing, since the number has not been enough before. */
        PLEDGED,
        /** Alone: its number is likely to be enough. */
        ALONE
    }

    /** Makes what is known of one line. */
    interface Maker {
        FirstInLine of(Session session, String container);
    }

    /** Nothing is known: each request lists its line. */
    Maker NONE = (session, container) -> new FirstInLine() {
        @Override
        public Entry send(Runnable creation) {
            creation.run();
            return Entry.UNPLEDGED;
        }

        @Override
        public boolean knowsFirst(int number) {
            return false;
        }

        @Override
        public void listed(int number, Entry entry, boolean first) {}

        @Override
        public void isFirst(int number, Entry entry) {}

        @Override
        public void deleted(int number) {}

        @Override
        public void forget() {}
    };

    /** Sends a creation. */
    Entry send(Runnable creation);

    /** Whether the node of that number, which was just created, is the first. */
    boolean knowsFirst(int number);

    /** A listing has said whether the node of that number, which was created so, stands first. */
    void listed(int number, Entry entry, boolean first);

    /** Those before the node of that number have left. */
    void isFirst(int number, Entry entry);

    /** This session has deleted the node of that number, which it had created. */
    void deleted(int number);

    /** Numbers may begin anew: nothing is known any more. */
    void forget();
}
