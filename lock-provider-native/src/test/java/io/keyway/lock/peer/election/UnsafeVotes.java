// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionMessage.Vote;
import java.util.List;

/** Names in no vote the lists that it has voted for before, so that they need not agree: without J2. */
public final class UnsafeVotes extends Election {
    public UnsafeVotes(ElectionSettings settings) {
        super(settings);
    }

    @Override
    Vote own(ViewId round) {
        Vote own = super.own(round);
        return new Vote(own.key(), round, own.identifier(), own.adopted(), own.recorded(), List.of());
    }

    @Override
    Election fresh(ElectionSettings same) {
        return new UnsafeVotes(same);
    }
}
