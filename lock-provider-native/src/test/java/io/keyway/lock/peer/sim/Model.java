// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Notice;
import java.util.List;

/** What lives in a world: how its cells start, what its users do, and what must be true. One object for one run. */
interface Model {
    /** The cell of a member that starts, or starts anew with an empty memory. */
    Cell member(SimNode node);

    Cell client(SimNode node);

    /** A user operation of the plan is due. The process lives. */
    void act(SimNode node, Act act);

    /** The time that was asked for with {@link SimWorld#wake}. */
    void wake(SimNode node, long number, Object what);

    void notice(SimNode node, Notice notice);

    /** A frame leaves its sender. */
    default void sent(SimLink link, int direction, Object frame) {}

    /** A frame reaches a process that runs. */
    default void arrived(SimLink link, int direction, Object frame) {}

    /** What machines do while this is on, copies do. */
    default void mute(boolean on) {}

    /** The epoch in a record that a member forced; 0 if there is none. */
    long epoch(Object record);

    /** The process of that node is about to end: by a crash, or by a close whose last words are still to be said. */
    void ended(SimNode node, boolean crash);

    /** The session of that client that its member knows; 0 if there is none. For the proof of death. */
    long session(SimNode client);

    List<Oracle> oracles();

    /** R15: which users still wait for something; empty if none. */
    String waiting();

    /** R16: what is left over although nobody uses anything; empty if nothing. */
    String leftOver();

    /** Faults are over: how long until nobody waits. */
    long finishWithin();

    /** Nobody waits: how long until nothing is left over. */
    long cleanWithin();
}
