// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.SessionLayer;

/** Who listens to a cell; called on the cell's thread, between turns. */
public interface CellListener {
    void heard(Notice notice);

    /** A batch of turns is over. */
    default void turned(SessionLayer sessions) {}
}
