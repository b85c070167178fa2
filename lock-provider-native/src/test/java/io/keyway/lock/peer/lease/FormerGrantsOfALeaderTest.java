// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.spi.Owner;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What a leader took over from its life before, which ended in order, is over when another one may have led since. */
class FormerGrantsOfALeaderTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Key LEADERSHIP = new Key(FailoverKeys.ALGORITHM, "a leadership");
    private static final Key HELD = LockKeys.lock(FailoverKeys.ALGORITHM, "held");
    private static final Key KEPT = LockKeys.lock(FailoverKeys.ALGORITHM, "kept");

    /** What a leadership says to its member. */
    private record Say(Consumer<MemberView> word) implements Call {}

    private final Cell cell = cell();

    private static Cell cell() {
        SessionSettings settings =
                SessionSettings.of("c", 1, 2, FailoverKeys.ALGORITHM, 60 * SECOND, Authenticator.none());
        Membership membership = new Membership("a:1", List.of("a:1", "b:1", "c:1"), 0, 1, false, 0, 1000);
        MemberSessions sessions = new MemberSessions(settings, membership, new Incarnation(1, 1), 7, 0, Horizon.NONE);
        MachineFactory locks = LeaseAlgorithm.ofMember(FailoverKeys.ALGORITHM, LockSettings.defaults(), all -> true);
        return new Cell(
                key -> key.equals(LEADERSHIP) ? new Saying() : locks.create(key),
                sessions.withPeers(true).underLeader());
    }

    private static final class Saying implements Machine {
        @Override
        public void received(Peer from, Message message, Turn turn) {}

        @Override
        public void called(Call call, Turn turn) {
            if (call instanceof Say say) {
                say.word().accept(turn.member());
            }
        }

        @Override
        public void due(int slot, Turn turn) {}

        @Override
        public boolean atRest() {
            return false;
        }

        @Override
        public Machine copy() {
            return new Saying();
        }

        @Override
        public void encode(StateEncoder out) {}
    }

    private static final class Quiet implements Driver {
        @Override
        public long clock() {
            return SECOND;
        }

        @Override
        public long random() {
            return 4;
        }

        @Override
        public void dial(long link) {}

        @Override
        public void transmit(long link, Frame frame) {}

        @Override
        public void hangUp(long link) {}

        @Override
        public void persist(DurableRecord record, long ticket) {}

        @Override
        public void deliver(Notice notice) {}
    }

    private void input(Key key, Call call) {
        Driver driver = new Quiet();
        cell.input(new Input.Command(key, call), driver);
        cell.flush(driver);
    }

    private void says(Consumer<MemberView> word) {
        input(LEADERSHIP, new Say(word));
    }

    private void imports() {
        Owner owner = new Owner("x", Map.of());
        long ttl = 20 * SECOND;
        input(HELD, new LockCall.Import(5, 5, LockMode.EXCLUSIVE, 1, ttl, ttl, owner));
        input(KEPT, new LockCall.Import(6, 6, LockMode.EXCLUSIVE, 1, ttl, 0, ttl, owner));
        assertThat(cell.keys()).contains(HELD, KEPT);
    }

    @Test
    void itStandsInTheSeatInWhichTheFormerLifeWasOpen() {
        imports();
        says(member -> member.takeOver(LEADERSHIP, 8, 0));
        assertThat(cell.keys()).contains(HELD, KEPT);
    }

    @Test
    void itIsOverInAnyOtherSeat() {
        imports();
        says(member -> member.takeOver(LEADERSHIP, 8, 20 * SECOND));
        assertThat(cell.keys()).doesNotContain(HELD, KEPT);
    }

    @Test
    void itIsOverWhenAnotherMemberLeads() {
        imports();
        says(MemberView::follow);
        assertThat(cell.keys()).doesNotContain(HELD, KEPT);
    }
}
