// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.peer.net.CellHost;

/** Where a notice comes from, and where all goes back to that concerns what it tells of: a cell of this client. */
public interface ClientCell extends CellHost {
    /** Whom the cell talks to, for messages. */
    String server();
}
