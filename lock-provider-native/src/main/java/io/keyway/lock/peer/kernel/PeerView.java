// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

import java.util.Collection;
import java.util.List;

/**
 * What a machine of a member may ask and tell of the other members of its cluster, in the turns of its own cell.
 *
 * <p>What a member sends to another one arrives once and in the order in which it was sent, as long as neither of them
 * starts anew and they are not parted for as long as a session lives. When that ends a machine that watches is called
 * with {@link PeerDown}, and with {@link PeerUp} when it goes on: of what was sent in between, and of what was sent
 * last before, nothing is known, so that whatever the other one must know is to be said again. A message of a life of a
 * member never comes after one of its next life.
 */
public interface PeerView {
    /** The id of this member. */
    String self();

    /** Which of its member's cells this one is, from 0: it talks to the cells of the same number. */
    default int shard() {
        return 0;
    }

    /** How many cells each member has. */
    default int shards() {
        return 1;
    }

    /** The ids of all members of the list that counts, in the order of the list; this one is in it, as a rule. */
    List<String> members();

    /**
     * That list counts from now on, and those are the others that this member talks to: with who is new there is a
     * session soon, and with who is not named any more there is none after this turn.
     *
     * @throws IllegalStateException if the list of this cluster does not change while its members work
     */
    default void follow(List<String> members, Collection<String> others) {
        if (!members.equals(members()) || !members.containsAll(others)) {
            throw new IllegalStateException("the list of this cluster does not change");
        }
    }

    /**
     * Whether every one of them was seen to run with that list. Before, others may count by another one; machines that
     * watch are called with {@link ListConfirmed} when it is.
     */
    boolean confirmed();

    /**
     * The longest lease that a member which this one has met may have granted, in its present life or a former one, in
     * nanoseconds; 0 if this member has met nobody.
     */
    default long longestTtl() {
        return 0;
    }

    /** The id of the member that a message came from; empty if it came from a client, or if that session is over. */
    String member(Peer from);

    /** Whether that member has been met and may be sent to, as between {@link PeerUp} and {@link PeerDown}. */
    boolean up(String member);

    /** Whether nothing that was sent to that member of late has been answered; of one that is not up, too. */
    boolean suspected(String member);

    /**
     * When the latest of all that this member has sent to that one was sent, on the cell's clock, that it is known to
     * have processed in the present session; {@link Turn#NEVER} of one that is not up.
     */
    long echo(String member);

    /**
     * Queues a message for the machine of its key at that member, as {@link Turn#send}. An answer to a message of a
     * member, by {@link Turn#send}, goes the same way.
     *
     * @return 0 if that member is not {@link #up}: nothing was queued
     */
    long send(String member, Message message);

    /**
     * The key is called with the calls below from now on, and in this turn with {@link PeerUp} for each member that is
     * up. Once for a key.
     */
    void watch(Key key);

    void unwatch(Key key);

    /**
     * That member may be sent to.
     *
     * @param restarted it is another life than the one that was met before it
     */
    record PeerUp(String member, boolean restarted) implements Call {}

    /**
     * What was queued for that member is lost, or may be.
     *
     * @param restarted it has started anew; otherwise it has not answered for as long as a session lives, or has ended
     */
    record PeerDown(String member, boolean restarted, String why) implements Call {}

    /** For some seconds that member has answered nothing of what was sent: it may have ended, or be slow. */
    record PeerSuspected(String member) implements Call {}

    /** After {@link PeerSuspected} it has answered. */
    record PeerTrusted(String member) implements Call {}

    /**
     * Somebody has proved itself as a member of this cluster and takes this one for a member, too: one that is in none
     * of the lists here, or that runs with another algorithm or other settings.
     */
    record Stranger(String member) implements Call {}

    /** All members run with the list of this one. */
    record ListConfirmed() implements Call {}
}
