// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionMessage.Ballot;
import io.keyway.lock.peer.election.ElectionMessage.Vote;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Turn;
import java.util.List;

/** An election that leaves one rule out. */
public final class UnsafeElection extends Election {
    /** Which one. */
    public enum Rule {
        /** A vote names the lists that its sender has voted for before. */
        J2,
        /** A life that finds no record has forgotten what it has promised, though it has nothing to wait for. */
        V5,
        /** A vote says for how long a leader of an earlier view may still lead. */
        LEFT
    }

    private final ElectionSettings settings;
    private final Rule rule;
    private boolean restored;

    public UnsafeElection(ElectionSettings settings, Rule rule) {
        super(settings);
        this.settings = settings;
        this.rule = rule;
    }

    @Override
    public void called(Call call, Turn turn) {
        restored |= call instanceof MemberView.Restored;
        boolean starts = call instanceof MemberView.Started && !restored;
        if (rule == Rule.V5 && starts && !turn.member().quarantined()) {
            Ballot nothing = new Ballot(settings.key(), ViewId.NONE, View.NONE, 0, List.of());
            super.called(new MemberView.Restored(nothing), turn);
        }
        super.called(call, turn);
    }

    @Override
    Vote own(ViewId round, Turn turn) {
        Vote own = super.own(round, turn);
        return rule != Rule.J2
                ? own
                : new Vote(own.key(), round, own.identifier(), own.adopted(), own.recorded(), own.left(), List.of());
    }

    @Override
    long left(Turn turn) {
        return rule == Rule.LEFT ? 0 : super.left(turn);
    }

    @Override
    Election fresh(ElectionSettings same) {
        return new UnsafeElection(same, rule);
    }
}
