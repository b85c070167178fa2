// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/** Is told what happens to the locks of one client; on the event executor, one event at a time, in order. Rules LK-901 to LK-906. */
@FunctionalInterface
public interface LockListener {
    /** Handles one event. What it throws is logged, and the next event is delivered all the same. */
    void onEvent(LockEvent event);
}
