// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.kernel.Input;

/** The way into a cell that runs somewhere else. */
public interface CellHost {
    /** Queues an input; from any thread, never blocks. Dropped after the cell has closed. */
    void post(Input input);
}
