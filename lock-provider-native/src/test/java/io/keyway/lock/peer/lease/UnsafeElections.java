// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.election.ElectionSettings;
import io.keyway.lock.peer.election.Identifier;
import io.keyway.lock.peer.election.UnsafeStarts;
import io.keyway.lock.peer.election.UnsafeVotes;
import io.keyway.lock.peer.kernel.Machine;
import java.util.List;

/** Elections of one leader that leave a rule out. */
public final class UnsafeElections {
    private UnsafeElections() {}

    /** J2: whoever counts votes does not ask what lists the voters have voted for before. */
    public static Machine withoutJ2() {
        return new UnsafeVotes(settings());
    }

    /** V5: a life that finds no record, and has nothing to wait for, votes and confirms at once. */
    public static Machine withoutV5() {
        return new UnsafeStarts(settings());
    }

    private static ElectionSettings settings() {
        return new ElectionSettings(
                FailoverKeys.ELECTION,
                List.of(FailoverKeys.LEADERSHIP),
                1,
                Identifier.USUAL,
                Leadership.LEASE,
                new LeaderBound());
    }
}
