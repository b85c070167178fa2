// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/** One body of a frame: what a machine tells the machine of the same key in another cell. Immutable. */
public interface Message {
    /** The machine that it is for. */
    Key key();
}
