// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/** Sees what happens; only replays have one. */
interface Tracer {
    void arrived(SimLink link, int direction, Object frame);

    void lost(SimLink link, int direction, Object frame, String why);

    void local(SimNode node, String what);
}
