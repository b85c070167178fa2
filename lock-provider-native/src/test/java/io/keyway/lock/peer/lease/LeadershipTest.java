// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.election.ElectionCall.Elected;
import io.keyway.lock.peer.election.View;
import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.home.MemberTurn;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The leadership of one member, which hears of views from its election. */
class LeadershipTest {
    private static final List<String> MEMBERS = List.of("a", "b", "c", "d", "e");
    private static final ViewId FIRST = new ViewId(1, "a", 1);

    private final Leadership leadership = new Leadership();
    private final Member member = new Member();

    /** A member that shows only for how long it is to be silent. */
    private static final class Member extends MemberTurn {
        final List<Long> silences = new ArrayList<>();
        final List<DurableRecord> forced = new ArrayList<>();

        @Override
        public String self() {
            return "a";
        }

        @Override
        public List<String> members() {
            return MEMBERS;
        }

        @Override
        public String member(Peer from) {
            return "";
        }

        @Override
        public boolean confirmed() {
            return true;
        }

        @Override
        public long send(String to, Message message) {
            return 1;
        }

        @Override
        public void call(Key to, Call call) {}

        @Override
        public long force(DurableRecord record) {
            forced.add(record);
            return forced.size();
        }

        @Override
        public long now() {
            return 7;
        }

        @Override
        public long epoch() {
            return 1;
        }

        @Override
        public boolean quarantined() {
            return !silences.isEmpty() && silences.get(silences.size() - 1) > 0;
        }

        @Override
        public void follow() {}

        @Override
        public void takeOver(Key leader, long leastEpoch, long silence) {
            silences.add(silence);
        }

        @Override
        public void serve(long until, long lastEpoch, long longest, long keptNoted) {}
    }

    private void elect(int round, String leader, ViewId since, boolean first) {
        View view = new View(new ViewId(round, "b", 1), List.of(new View.Seat(leader, since)), first, MEMBERS);
        leadership.called(new Elected(view, false, 0, Turn.NEVER), member);
    }

    private void openInTheFirstView() {
        View view = new View(FIRST, List.of(new View.Seat("a", FIRST)), true, MEMBERS);
        leadership.called(new Elected(view, false, 0, Turn.NEVER), member);
        assertThat(member.silences).as("nobody has led before").containsExactly(0L);
        assertThat(member.forced).containsExactly(new Leadership.Opened(FIRST));
    }

    /**
     * Another one was elected, of which nobody else has heard; so the next view comes after the one before. Meanwhile
     * this member has ended the sessions of its clients.
     */
    @Test
    void aLeaderThatHasLostItsSeatIsSilentWhenItHasTheSameOneAgain() {
        openInTheFirstView();
        elect(2, "b", new ViewId(2, "b", 1), false);
        elect(3, "a", FIRST, false);
        assertThat(member.silences).hasSize(2);
        assertThat(member.silences.get(1)).isPositive();
    }

    /** It had nothing to wait for when it ended, since it did not lead. */
    @Test
    void soIsItsNextLife() {
        openInTheFirstView();
        elect(2, "b", new ViewId(2, "b", 1), false);
        Leadership next = new Leadership();
        for (DurableRecord record : member.forced) {
            next.called(new MemberView.Restored(record), member);
        }
        View view = new View(new ViewId(3, "b", 1), List.of(new View.Seat("a", FIRST)), false, MEMBERS);
        next.called(new Elected(view, true, 0, Turn.NEVER), member);
        assertThat(member.silences).hasSize(2);
        assertThat(member.silences.get(1)).isPositive();
    }
}
