// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

import java.util.List;

/**
 * What a manager may ask and tell the sessions of its member. Only they expire anything: a grant ends at the time at
 * which its session was last heard, plus its ttl.
 */
public interface MemberView {
    /** The member's epoch: 32 bits that rise with each start; the upper half of a token. */
    long epoch();

    /** The highest epoch that anybody may have seen of this member: who tells of more is wrong, or means harm. */
    default long lastEpoch() {
        return epoch();
    }

    /**
     * True while this start may not grant yet: requests queue, holders re-assert. When it ends, each key that watches
     * is called with {@link Opening}.
     */
    boolean quarantined();

    /**
     * When the quarantine of a start ends, on the cell's clock; {@link Turn#NEVER} if it is over, or if that is not
     * known yet. Of a member whose longest lease was longer in a former life it is further away than {@link
     * #quarantine()}.
     */
    default long opensAt() {
        return Turn.NEVER;
    }

    /**
     * Whether nothing was ever granted in this cluster before this life of the member, as far as all members know;
     * false as long as they have not said so.
     */
    default boolean isFirstUse() {
        return false;
    }

    /** Asks for {@link Opening} at the end of the quarantine. */
    void awaitOpening(Key key);

    /** The highest counter of any name that this epoch forgot. A name without a machine starts above it. */
    long floor();

    void raiseFloor(long counter);

    /** Moves to that epoch, which is higher; outputs wait until it is forced. Floor is 0 afterwards. */
    void raiseEpoch(long higher, Turn turn);

    boolean live(Peer peer);

    /** Nanoseconds since the session was last heard. */
    long silence(Peer peer);

    /**
     * A grant begins: it lives as long as its session is heard at least once per ttl. At its end the key is called with
     * {@link Expired}, at the session's end with {@link SessionEnded}.
     */
    void grant(Peer peer, Key key, long token, long ttl);

    /** A grant ended by the manager's word. Unknown ones are ignored. */
    void ungrant(Peer peer, Key key, long token, long ttl);

    /**
     * Others are kept out of something until then, on the cell's clock, whatever becomes of the session that asked for
     * it: what this turn sends leaves when a start of this member would wait for so long.
     */
    void keep(long until);

    /**
     * The key wants {@link SessionEnded} of that session, and the session is to be kept for a waiter with that ttl. A
     * key may wait several times for one session; each time is ended by one {@link #unawait} of the same ttl, and is
     * told once.
     */
    void await(Peer peer, Key key, long ttl);

    void unawait(Peer peer, Key key, long ttl);

    /**
     * Asks once for {@link Heard}, at the next frame of that session. A key that has asked already, or a session that
     * is over, changes nothing.
     */
    void listen(Peer peer, Key key);

    /** The longest ttl of a grant, in nanoseconds. */
    long maxTtl();

    /** The length of a quarantine in nanoseconds: longer than the largest ttl on the slowest clock. */
    long quarantine();

    /**
     * The other members.
     *
     * @throws IllegalStateException if the algorithm of this cell does not talk to members
     */
    default PeerView peers() {
        throw new IllegalStateException("the algorithm of this cell does not talk to members");
    }

    /**
     * This member leads until that time on the cell's clock, and lets clients in at {@code letIn}: those that come wait
     * for that.
     *
     * @throws IllegalStateException if no member of the cluster leads, by its algorithm
     */
    default void expect(long until, long letIn) {
        throw new IllegalStateException("no member leads in a cluster of this algorithm");
    }

    /**
     * This member leads until that time on the cell's clock, with no epoch above that one: clients are served by it.
     * Beyond either of them their connections end, and their sessions stay as they are. Nothing is said to a client
     * that has a longer lease than that, in nanoseconds, or while something is kept for longer than that, or than a
     * majority has noted: the key that has taken over is called with {@link Longer}.
     *
     * @throws IllegalStateException if no member of the cluster leads, by its algorithm
     */
    default void serve(long until, long lastEpoch, long longest, long keptNoted) {
        throw new IllegalStateException("no member leads in a cluster of this algorithm");
    }

    /**
     * A majority of the members knows that the client of that session can hold something with that ttl, in nanoseconds.
     * Before that, the client hears of no lease that is as long.
     *
     * @throws IllegalStateException as of {@link #serve}
     */
    default void noted(Peer peer, long ttl) {
        throw new IllegalStateException("no member leads in a cluster of this algorithm");
    }

    /**
     * Each client that can hold something has said since {@link #takeOver} what it holds, or can hold it no more. What
     * is left of the silence that was asked for there is over.
     *
     * @throws IllegalStateException as of {@link #serve}
     */
    default void endSilence() {
        throw new IllegalStateException("no member leads in a cluster of this algorithm");
    }

    /**
     * Another member leads, and not this one: the sessions of all clients are over. Each machine is called with {@link
     * Unseated}, behind the ends of the sessions.
     *
     * @throws IllegalStateException as of {@link #serve}
     */
    default void follow() {
        throw new IllegalStateException("no member leads in a cluster of this algorithm");
    }

    /**
     * This member leads from now on: it has no session of a client and an epoch of at least that one, and is in
     * quarantine for so many nanoseconds at least, if not 0: then it is as after {@link #follow}, too. With 0 it leads
     * as a former life of it did, and what that has left stands. That key is called with {@link Longer}.
     *
     * @throws IllegalStateException as of {@link #serve}
     */
    default void takeOver(Key leader, long leastEpoch, long silence) {
        throw new IllegalStateException("no member leads in a cluster of this algorithm");
    }

    /** What is left of what is kept, in nanoseconds: 0 if nothing is. */
    default long kept() {
        return 0;
    }

    /** The longest lease of a client, and what is left of what is kept, in nanoseconds: 0 if there is nothing. */
    default long longestLease() {
        return 0;
    }

    /** All grants of live sessions, for a clean end. */
    List<Grant> grants();

    /** A live grant. */
    record Grant(Peer peer, Key key, long token, long ttl) {}

    /**
     * The session was not heard for the grant's ttl. The session itself may live on; the manager tells its client that
     * the grant is over.
     */
    record Expired(Peer peer, long token) implements Call {}

    /** The session is over: all its grants and waits of this key end now. */
    record SessionEnded(Peer peer) implements Call {}

    /** A frame of the session came, all its messages are processed and its silence is over. */
    record Heard(Peer peer) implements Call {}

    /**
     * A record that a former life of this member has forced: for each key the last one, before anything else is heard
     * in this life.
     */
    record Restored(DurableRecord record) implements Call {}

    /** The member has started, and all that was forced is restored: for the machines that are there from the start. */
    record Started() implements Call {}

    /** The quarantine is over. */
    record Opening() implements Call {}

    /** Another member has led, or may have: what a former life has left, or is kept, is over here. */
    record Unseated() implements Call {}

    /** Something lasts longer than is served: {@link #longestLease} says how long. */
    record Longer() implements Call {}
}
