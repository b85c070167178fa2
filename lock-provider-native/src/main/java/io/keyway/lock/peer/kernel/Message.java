// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/** One body of a frame: what a machine tells the machine of the same key in another cell. Immutable. */
public interface Message {
    /** The machine that it is for. */
    Key key();

    /** Whether it is answered by a message of its own: the sender waits for that, and not to hear that this came. */
    default boolean isAnswered() {
        return false;
    }
}
