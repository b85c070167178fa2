// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Key;
import org.jspecify.annotations.Nullable;

/** Knows which cell of a client serves which name. */
interface Seats {
    /** The node that grants through a client's cell. */
    static int granter(SimCell cell) {
        SimNode target = cell.target();
        return target == null ? Integer.MIN_VALUE : target.index();
    }

    /** The cell of that client that asks for that name; null while the client does not know whom to ask: {@link LeaseUsers#rerouted} comes later. */
    @Nullable
    SimCell cell(SimNode client, Key key);

    /** A request that went through that cell came to a member that does not decide on its name. */
    void misdirected(SimCell cell);
}
