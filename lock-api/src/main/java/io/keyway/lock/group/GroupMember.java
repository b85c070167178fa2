// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import io.keyway.lock.LeaseLoss;
import java.util.Optional;

/**
 * What one process of an {@link ElectionGroup} does, after the callbacks of {@code locks_leader} (Erlang). One method
 * runs at a time, in the order of events, on the thread of the group: whatever blocks there keeps the whole group
 * waiting, and what is thrown there is logged, but for {@link #called}. Each method does nothing unless it is
 * overridden. An array is the method's own; a result of the method must not be changed after it was returned.
 */
public interface GroupMember {
    /**
     * This process leads from now on.
     *
     * @param token its fencing token, higher than that of any leader before
     * @param handed what the leader before gave up with, from {@link #surrendered}; empty if it died, was deposed, or
     *     there was none
     */
    default void elected(long token, Optional<byte[]> handed) {}

    /**
     * This process has given the leadership up, by {@link ElectionGroup#surrender}, a hand-over or a close. Unless the
     * leadership is lost at that moment, nobody else leads until this has returned, for a quarter of the ttl at the
     * most. {@link ElectionGroup#isLeading} is false by now, and nothing can be asked or told any more.
     *
     * @return what the next leader starts from
     */
    default byte[] surrendered() {
        return state();
    }

    /**
     * This process has lost the leadership, and another one may lead already.
     *
     * @param loss why
     */
    default void deposed(LeaseLoss loss) {}

    /**
     * {@return what a process is told that begins to follow this one} Asked of the leader, once for each.
     */
    default byte[] state() {
        return new byte[0];
    }

    /**
     * Another process leads, and this one follows it; again when the connection to it was lost in between.
     *
     * @param leader the name of the leader
     * @param token its fencing token
     * @param state what its {@link #state} says
     */
    default void following(String leader, long token, byte[] state) {}

    /**
     * This process follows nobody any more: the leader is gone, or cannot be reached.
     *
     * @param leader the name of the one that it followed
     */
    default void leaderGone(String leader) {}

    /**
     * Answers a call; asked of the leader alone.
     *
     * @param from the name of the process that called
     * @param request what it said
     * @return the answer
     * @throws Exception if the call cannot be answered: its message goes to the caller
     */
    default byte[] called(String from, byte[] request) throws Exception {
        throw new UnsupportedOperationException("this member answers no calls");
    }

    /**
     * Takes a message that is not answered; told to the leader alone.
     *
     * @param from the name of the process that sent it
     * @param message what it said
     */
    default void cast(String from, byte[] message) {}

    /**
     * Answers a question of the leader; asked of candidates.
     *
     * @param leader the name of the leader
     * @param question what it asks
     * @return the answer
     */
    default byte[] asked(String leader, byte[] question) {
        return new byte[0];
    }

    /**
     * Takes what the leader tells all.
     *
     * @param leader the name of the leader
     * @param message what it says
     */
    default void told(String leader, byte[] message) {}
}
