// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.WelcomeInfo;

/** The way from the users of a client to its cells, and back. */
interface Seats {
    /** The node that grants through a client's cell. */
    static int granter(SimCell cell) {
        SimNode target = cell.target();
        if (target != null) {
            return target.index();
        }
        WelcomeInfo last = ((ClientSession) cell.cell().sessions()).lastWelcome();
        return last == null ? Integer.MIN_VALUE : 'a' - last.node().charAt(0);
    }

    /** The longest ttl that the users of that client may ask for. */
    long maxTtl(SimNode client);

    /** Leads what a user asks to the cell that serves the name. */
    void post(SimNode client, Input.Command command);

    /** A cell of a client tells something. */
    void heard(SimCell cell, Notice notice);

    /** Runs the task on the client's thread, behind all that was posted before and what came of that. */
    void afterwards(SimNode client, Runnable task);
}
