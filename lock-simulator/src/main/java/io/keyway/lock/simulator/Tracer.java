// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/** Sees what happens, and what oracles are told; only replays have one. */
interface Tracer extends LeaseOracle {
    void sent(SimLink link, int direction, Object frame);

    void arrived(SimLink link, int direction, Object frame);

    void lost(SimLink link, int direction, Object frame, String why);

    void local(SimNode node, String what);

    /** That node has had an event, or does nothing more about the last one. */
    void after(SimNode node);
}
