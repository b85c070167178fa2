// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/** What a cell needs from the world. The socket runtime, the simulator and the explorer each are one. */
public interface Driver {
    /** Monotonic nanoseconds of this cell's clock, compared by difference. */
    long clock();

    /** 64 random bits; the only randomness of a cell. */
    long random();

    /** Opens a link to this cell's member (clients only); answered by Opened or Closed with that number. */
    void dial(long link);

    /** Sends; a link that is not open drops the frame. */
    void transmit(long link, Frame frame);

    /** Closes; frames that were transmitted before may still arrive. Not answered by Closed. */
    void hangUp(long link);

    /** The address of the other end of a link, for people; empty if it is not known. */
    default String origin(long link) {
        return "";
    }

    /** Forces a record to disk and then gives the cell {@link Input.Forced}; in order of tickets. */
    void persist(DurableRecord record, long ticket);

    void deliver(Notice notice);

    /** The highest logical clock that any cell of this process has heard of; 0 for none. Of clients only. */
    default long logicalClock() {
        return 0;
    }

    /** A member has shown that logical clock. Of clients only. */
    default void heardClock(long logicalClock) {}

    /** Something has happened that a campaign of random runs wants to have seen; nobody else looks. */
    default void reached(CoverageGoal goal) {}
}
