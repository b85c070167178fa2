// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.election.ElectionSettings;
import io.keyway.lock.peer.election.Identifier;
import io.keyway.lock.peer.election.UnsafeElection;
import io.keyway.lock.peer.kernel.Machine;
import java.util.List;

/** Elections of one leader that leave a rule out. */
public final class UnsafeElections {
    private UnsafeElections() {}

    /** One that is at rest, and leaves that rule out. */
    public static Machine without(UnsafeElection.Rule rule) {
        return new UnsafeElection(settings(), rule);
    }

    private static ElectionSettings settings() {
        return new ElectionSettings(
                FailoverKeys.ELECTION,
                List.of(FailoverKeys.LEADERSHIP),
                1,
                Identifier.USUAL,
                Leadership.LEASE,
                Leadership.PATIENCE,
                new LeaderBound());
    }
}
