// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.DurableRecord;
import java.util.Map;

/** Which cells the processes of a lease world have, and who talks to whom. */
interface Topology extends Seats {
    /** A process starts: opens its cells. */
    void start(SimNode node);

    /** Whom a cell without a target dials now. */
    SimNode dials(SimCell cell);

    /** Whether the client's clock counts what its machine slept. */
    boolean wakeful();

    /** The process of that node has had an event. */
    void looked(SimNode node);

    /** A time that was asked for has come. */
    void wake(SimNode node, long number, Object what);

    /** A member ran late by so many nanoseconds of its clock. */
    void stalled(SimNode member, long nanos);

    /** A member that crashed is about to start anew: what the fault does to its disk. */
    void restarts(SimNode member, Fault fault);

    /** The operator has ended a member, and gives it another list. */
    void listChange(SimNode member, Fault fault);

    /** Nothing goes wrong from now on: the operator brings all members of one list up. */
    void heal();

    /** True if a node is to run when all is well. */
    boolean belongs(SimNode node);

    /** Whether what a member granted counts when that one is granted, by whichever member. */
    default boolean stands(Grant earlier, Grant later) {
        return true;
    }

    /** Whom a cell without a target dials now with that link. */
    default SimNode dials(SimCell cell, long link) {
        return dials(cell);
    }

    /** The operator wants that member to change the list while the cluster works. */
    default void membersChange(SimNode member, Fault fault) {}

    /** That member is to give its seat away, if it leads. */
    default void leavesSeat(SimNode member) {}

    /** A member ends in good order: what it knows is for the next one. */
    default void handsOver(SimNode member) {}

    /** As of {@link Model}. */
    default boolean adoptsView(SimNode member) {
        return false;
    }

    /** As of {@link Model}. */
    default long logicalClock(SimNode client) {
        return 0;
    }

    /** As of {@link Model}. */
    default void heardClock(SimNode client, long logicalClock) {}

    /** A record is on the disk of that member. */
    default void forced(SimNode member, DurableRecord record) {}

    /** What machines do while this is on, copies do. */
    default void mute(boolean on) {}

    /** What there is to say of a node beside its locks and users, as {@link Model#states}. */
    default Map<String, String> states(SimNode node) {
        return Map.of();
    }

    /** How many machines that cell keeps although nobody uses anything. */
    default int atRest(SimCell cell) {
        return 0;
    }
}
