// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.home;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A lock at a member, without its coordinator. */
class HomeManagerTest {
    private static final Key LOCK = new Key(3, "job");
    private static final Key COORDINATOR = new Key(3, "coordinator");
    private static final Peer CLIENT = new Peer(1);

    private final List<Call> calls = new ArrayList<>();
    private final List<Message> sent = new ArrayList<>();
    private boolean quarantined;
    private final HomeManager manager =
            new HomeManager(LOCK, COORDINATOR, LockSettings.defaults().withoutCache(), true);
    private final MemberTurn turn = new MemberTurn() {
        @Override
        public void call(Key to, Call call) {
            calls.add(call);
        }

        @Override
        public long send(Peer to, Message message) {
            sent.add(message);
            return 1;
        }

        @Override
        public long send(String member, Message message) {
            return 0;
        }

        @Override
        public long force(DurableRecord record) {
            return 1;
        }

        @Override
        public long now() {
            return 0;
        }

        @Override
        public long epoch() {
            return 1;
        }

        @Override
        public boolean quarantined() {
            return quarantined;
        }

        @Override
        public String self() {
            return "a";
        }

        @Override
        public List<String> members() {
            return List.of("a");
        }

        @Override
        public boolean confirmed() {
            return true;
        }

        @Override
        public String member(Peer from) {
            return "";
        }
    };

    private void ask() {
        ask(7, false, MemberTurn.LEASE);
    }

    private void ask(long request, boolean noWait, long patience) {
        Owner owner = new Owner("client", Map.of());
        LockMessage.Acquire acquire = new LockMessage.Acquire(
                LOCK, request, LockMode.EXCLUSIVE, 1, 1, MemberTurn.LEASE, noWait, false, false, 0, patience, owner);
        manager.received(CLIENT, acquire, turn);
    }

    @Test
    void whoAsksAgainForWhatWasTakenBackWaitsAgain() {
        ask();
        manager.called(new HomeCall.Yours(1, 99), turn);
        assertThat(sent).hasOnlyElementsOfType(LockMessage.Granted.class).hasSize(1);
        manager.called(new HomeCall.TakenBack(1, "the majority is gone"), turn);
        assertThat(sent).last().isInstanceOf(LockMessage.Revoke.class);
        calls.clear();
        ask();
        assertThat(calls).first().isEqualTo(new HomeCall.Leave("job", 1));
        assertThat(calls)
                .last()
                .isInstanceOfSatisfying(
                        HomeCall.Want.class, want -> assertThat(want.number()).isEqualTo(2));
        manager.called(new HomeCall.Over(1), turn); // too late: of the former one
        manager.called(new HomeCall.Yours(2, 100), turn);
        assertThat(sent)
                .last()
                .isInstanceOfSatisfying(
                        LockMessage.Granted.class,
                        granted -> assertThat(granted.token()).isEqualTo(100));
    }

    /** Scenario 9 of the source: who is not let in within its time limit hears so, and who was silent. */
    @Test
    void s9_whoEntersTooSlowlyFailsAndNothingStaysBehind() {
        ask(8, true, 0);
        manager.due(0, turn);
        assertThat(calls).last().isEqualTo(new HomeCall.WhoIsSilent("job", 1));
        manager.called(new HomeCall.Waiting(1, true, "a majority must answer", List.of("b:1", "c:1")), turn);
        assertThat(sent)
                .last()
                .isEqualTo(new LockMessage.Blocked(LOCK, 8, true, "a majority must answer, and b:1, c:1 do not"));
        assertThat(calls).last().isEqualTo(new HomeCall.Leave("job", 1));
        manager.called(new HomeCall.Yours(1, 99), turn);
        assertThat(calls).as("what comes too late goes back").last().isEqualTo(new HomeCall.Leave("job", 1));
        assertThat(manager.atRest()).isTrue();
    }

    /** Scenario 11 of the source, which falls when more than a hundred enter: here those get an answer. */
    @Test
    void s11_tooManyAreAnAnswer() {
        int most = LockSettings.defaults().maxWaiters();
        for (long request = 1; request <= most + 2; request++) {
            ask(request, false, 0);
        }
        assertThat(most).isGreaterThan(100);
        assertThat(sent)
                .containsExactly(
                        new LockMessage.NotGranted(LOCK, most + 1, RefusalCause.CROWDED, List.of()),
                        new LockMessage.NotGranted(LOCK, most + 2, RefusalCause.CROWDED, List.of()));
        manager.received(CLIENT, new LockMessage.Withdraw(LOCK, 1), turn);
        sent.clear();
        ask(most + 3, false, 0);
        assertThat(sent).as("it waits").isEmpty();
    }

    /** A member that waits for the end of leases of before grants nobody anything, and says so at once. */
    @Test
    void whoAsksAMemberThatGrantsNothingYetHearsThat() {
        quarantined = true;
        ask();
        assertThat(sent).containsExactly(new LockMessage.Blocked(LOCK, 7, false, RefusalCause.OPENING.why()));
        manager.called(new HomeCall.Waiting(1, false, "a majority must answer", List.of()), turn);
        assertThat(sent).as("once").hasSize(1);
        quarantined = false;
        manager.called(new HomeCall.Placed(1, 2, List.of()), turn);
        assertThat(sent).last().isEqualTo(new LockMessage.Place(LOCK, 7, 2, List.of()));
    }

    @Test
    void whoWaitsHearsOfItsPlaceAgainWhenThoseThatWereSilentAnswer() {
        ask();
        assertThat(sent).isEmpty();
        manager.called(new HomeCall.Placed(1, 0, List.of()), turn);
        manager.called(new HomeCall.Waiting(1, true, "a majority must answer", List.of("b:1", "c:1")), turn);
        manager.called(new HomeCall.Placed(1, 1, List.of()), turn);
        manager.called(new HomeCall.Waiting(1, true, "a majority must answer", List.of()), turn);
        assertThat(sent)
                .containsExactly(
                        new LockMessage.Place(LOCK, 7, 0, List.of()),
                        new LockMessage.Blocked(LOCK, 7, false, "a majority must answer, and b:1, c:1 do not"),
                        new LockMessage.Place(LOCK, 7, 1, List.of()));
    }

    @Test
    void whoAsksAgainForWhatItHoldsIsNotHeeded() {
        ask();
        manager.called(new HomeCall.Yours(1, 99), turn);
        calls.clear();
        ask();
        assertThat(calls).isEmpty();
        assertThat(sent).hasSize(1);
    }
}
