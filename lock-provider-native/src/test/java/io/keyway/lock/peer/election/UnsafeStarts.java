// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionMessage.Ballot;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Turn;
import java.util.List;

/** A life that has nothing to wait for takes it that nothing was promised, where it finds no record: without V5. */
public final class UnsafeStarts extends Election {
    private final ElectionSettings settings;
    private boolean restored;

    public UnsafeStarts(ElectionSettings settings) {
        super(settings);
        this.settings = settings;
    }

    @Override
    public void called(Call call, Turn turn) {
        restored |= call instanceof MemberView.Restored;
        if (call instanceof MemberView.Started && !restored && !turn.member().quarantined()) {
            Ballot nothing = new Ballot(settings.key(), ViewId.NONE, View.NONE, 0, List.of());
            super.called(new MemberView.Restored(nothing), turn);
        }
        super.called(call, turn);
    }

    @Override
    Election fresh(ElectionSettings same) {
        return new UnsafeStarts(same);
    }
}
