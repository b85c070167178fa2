// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/**
 * A state machine: mutable, used by one thread at a time, deterministic. It keeps no argument after it returns, except
 * immutable messages and calls.
 */
public interface Machine {
    /** A message of a live session: in order, once. */
    void received(Peer from, Message message, Turn turn);

    /** A call of a machine of this cell, of the session layer, or of the cell's user. */
    void called(Call call, Turn turn);

    /** A timer of this machine is due: perhaps late, never early. */
    void due(int slot, Turn turn);

    /** A record that this machine asked to force is on disk. */
    default void forced(long ticket, Turn turn) {}

    /** True after a turn: nothing is lost when the cell drops this machine. */
    boolean atRest();

    /** The last word of a machine that is dropped. */
    default void dropped(Turn turn) {}

    /** An independent machine of equal state. */
    Machine copy();

    /**
     * Told once to a machine that {@link #copy} made: the sessions that it lives with from now on, themselves a copy.
     */
    default void rebind(SessionLayer sessions) {}

    /** Writes the whole state; two machines of equal encoding behave alike. */
    void encode(StateEncoder out);
}
