// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

/**
 * The name of a view. No two views have one name, and of two one is the later.
 *
 * @param round from 1; 0 in {@link #NONE} alone
 * @param proposer the member that counted the votes
 * @param life which life of that member, drawn at random
 */
public record ViewId(long round, String proposer, long life) implements Comparable<ViewId> {
    /** Before all views. */
    public static final ViewId NONE = new ViewId(0, "", 0);

    @Override
    public int compareTo(ViewId other) {
        int by = Long.compare(round, other.round);
        by = by != 0 ? by : proposer.compareTo(other.proposer);
        return by != 0 ? by : Long.compare(life, other.life);
    }

    static ViewId later(ViewId a, ViewId b) {
        return a.compareTo(b) < 0 ? b : a;
    }
}
