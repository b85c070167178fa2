// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;

/** Shows oracles who leads. */
public final class FailoverView {
    private FailoverView() {}

    /** The machine that knows whether its member leads. */
    public static Key leadership() {
        return FailoverKeys.LEADERSHIP;
    }

    /** The machine of a member's part in the election. */
    public static Key election() {
        return FailoverKeys.ELECTION;
    }

    /** Since which view that machine's member leads; {@link ViewId#NONE} if it does not. */
    public static ViewId seat(Machine leadership) {
        return ((Leadership) leadership).seat();
    }

    /** Whether that machine's member lets clients in at that time of its cell. */
    public static boolean serves(Machine leadership, long now) {
        return ((Leadership) leadership).serves(now);
    }
}
