// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Notice;
import java.util.List;
import java.util.Map;

/** What lives in a world: how its cells start, what its users do, and what must be true. One object for one run. */
interface Model {
    /**
     * A process starts, or starts anew with an empty memory: opens its cells. The first one of a member is the one that
     * others dial.
     */
    void start(SimNode node);

    /** Whom that cell dials now, if it has no target. */
    default SimNode dials(SimCell cell) {
        throw new IllegalStateException(cell + " has nobody to dial");
    }

    /** Whom that cell dials now with that link, if it has no target. */
    default SimNode dials(SimCell cell, long link) {
        return dials(cell);
    }

    /** A record is on the disk of that member; in the order in which they were asked for. */
    default void forced(SimNode member, DurableRecord record) {}

    /** Whether the cells of clients read a clock that counts what their machine slept. */
    default boolean wakeful() {
        return false;
    }

    /** A member that crashed is about to start anew: what the fault does to its disk. */
    default void restarts(SimNode member, Fault fault) {
        if (fault.amount() == 2) {
            member.disk().wipe();
        }
    }

    /** A member ends in good order: what it knows is for the next one. */
    default void handsOver(SimNode member) {}

    /** Whether its present step gave that member another view: a leader that takes over anew forgets its clients. */
    default boolean adoptsView(SimNode member) {
        return false;
    }

    /** The operator has ended a member, and gives it another list. */
    default void listChange(SimNode member, Fault fault) {}

    /** The operator wants that member to change the list while the cluster works. */
    default void membersChange(SimNode member, Fault fault) {}

    /** That member is to give its seat away, if it leads. */
    default void leavesSeat(SimNode member) {}

    /** True if that node is to run. */
    default boolean belongs(SimNode node) {
        return true;
    }

    /** Nothing goes wrong from now on. */
    default void heal() {}

    /** A member ran late by so many nanoseconds of its clock. */
    default void stalled(SimNode node, long nanos) {}

    /** A user operation of the plan is due. The process lives. */
    void act(SimNode node, Act act);

    /** The time that was asked for with {@link SimWorld#wake}. */
    void wake(SimNode node, long number, Object what);

    void notice(SimCell cell, Notice notice);

    /** The highest logical clock that the process of that client has heard of. */
    default long logicalClock(SimNode client) {
        return 0;
    }

    /** A member has shown that logical clock to that client. */
    default void heardClock(SimNode client, long logicalClock) {}

    /** A frame leaves its sender. */
    default void sent(SimLink link, int direction, Object frame) {}

    /** A frame reaches a process that runs. */
    default void arrived(SimLink link, int direction, Object frame) {}

    /** What machines do while this is on, copies do. */
    default void mute(boolean on) {}

    /** The process of that node is about to end: by a crash, or by a close whose last words are still to be said. */
    void ended(SimNode node, boolean crash);

    /** The session of that client that its member knows; 0 if there is none. For the proof of death. */
    long session(SimNode client);

    List<Oracle> oracles();

    /** The state of each machine of that node, by its name, in a line; of those that are not at rest. */
    default Map<String, String> states(SimNode node) {
        return Map.of();
    }

    /** R15: which users still wait for something; empty if none. */
    String waiting();

    /** R16: what is left over although nobody uses anything; empty if nothing. */
    String leftOver();

    /** Faults are over: how long until nobody waits. */
    long finishWithin();

    /** Nobody waits: how long until nothing is left over. */
    long cleanWithin();
}
