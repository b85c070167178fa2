// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

/**
 * The parent of the nodes of one lock or semaphore, as one session uses it. The servers number the nodes in it, and
 * begin anew when it was empty, was deleted and is made again; at the end of an int they would give the same number
 * again and again.
 */
final class Container {
    /** The last number with which anything is granted. */
    static final int LAST = Integer.MAX_VALUE - 65_536;

    /** From this number on it is to be made anew in a quiet moment. */
    private static final int WORN = 1 << 30;

    final Session session;
    final String path;

    /** How many requests are in it; guarded by {@link Containers}. */
    int users;

    /** What is known of the line in it. */
    final FirstInLine foresight;

    private volatile boolean worn;

    Container(Session session, String path) {
        this.session = session;
        this.path = path;
        this.foresight = session.foresight(path);
    }

    /** A node of that number was created here. */
    void created(int number) {
        if (number >= WORN || number < 0) {
            worn = true;
            foresight.forget();
        }
    }

    /** It has been used so often that it had better be made anew. */
    boolean isWorn() {
        return worn;
    }
}
