// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.session.SessionFrame.Data;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One test for each rule of docs/protocol.md that a script can show. */
class SessionRulesTest {
    private static final long MS = World.MS;
    private static final long TTL = 10_000 * MS;

    @Test
    void anEchoBehindAGapExtendsNothing() {
        World world = new World();
        Peer peer = world.held(TTL);
        long deadline = world.clientSide().belief(TTL).deadline();
        world.keep = frame -> !(frame instanceof Data data && !data.messages().isEmpty());
        world.sendFromMember(peer, 2);
        world.settle();
        world.now += 20 * MS;
        world.client.work(turn -> turn.client().confirm(Numbered.KEY));
        world.settle();
        assertThat(world.member.lastSent(Data.class).stamp()).isEqualTo(world.now);
        assertThat(world.client.heard()).isEmpty();
        assertThat(world.clientSide().belief(TTL).deadline()).isEqualTo(deadline);
        assertThat(world.goals).contains("GAP_DROPPED");
        world.keep = frame -> true;
        world.pass(1_500 * MS);
        assertThat(world.client.heard()).containsExactly(2L);
        assertThat(world.clientSide().belief(TTL).deadline()).isGreaterThan(deadline);
    }

    @Test
    void onlyTheLastFrameOfALongBatchCarriesTheEcho() {
        World world = new World();
        Peer peer = world.held(TTL);
        world.member.sent.clear();
        world.member.work(turn -> {
            for (int i = 0; i < 2_500; i++) {
                turn.send(peer, World.number(i));
            }
        });
        List<Boolean> stamped = world.member.sent.stream()
                .map(frame -> ((Data) frame).stamped())
                .toList();
        assertThat(stamped).containsExactly(false, false, true);
        world.settle();
        assertThat(world.client.heard()).hasSize(2_500).isSorted();
    }

    @Test
    void aMemberSendsNoMoreThanAWindowAheadOfTheClient() {
        World world = new World();
        Peer peer = world.held(TTL);
        world.deaf = true;
        world.member.sent.clear();
        world.member.work(turn -> {
            for (int i = 0; i < 3 * MessageStream.WINDOW; i++) {
                turn.send(peer, World.number(i));
            }
        });
        world.member.work(turn -> turn.send(peer, World.number(3L * MessageStream.WINDOW)));
        long onTheirWay = world.member.sent.stream()
                .mapToInt(frame -> ((Data) frame).messages().size())
                .sum();
        assertThat(onTheirWay).isEqualTo(MessageStream.WINDOW);
        assertThat(world.member.sent).noneMatch(frame -> ((Data) frame).stamped());
        world.deaf = false;
        long before = world.now;
        world.pass(1_500 * MS); // what was lost is sent again, the rest at once
        assertThat(world.client.heard()).hasSize(3 * MessageStream.WINDOW + 1).isSorted();
        assertThat(world.clientSide().belief(TTL).deadline()).isGreaterThan(before);
    }

    @Test
    void aLapsedBeliefNeverComesBack() {
        World world = new World();
        world.held(TTL);
        Belief belief = world.clientSide().belief(TTL);
        world.deaf = true;
        world.pass(TTL * 3 / 4);
        assertThat(world.client.told(ClientView.Lapsed.class)).hasSize(1);
        world.deaf = false;
        world.pass(2_000 * MS);
        assertThat(world.clientSide().belief(TTL).holds(world.now))
                .as("of later grants")
                .isTrue();
        assertThat(belief.holds(world.now)).as("of the lapsed ones").isFalse();
    }

    @Test
    void aFreshSessionStartsWithoutBelief() {
        World world = new World();
        Peer first = world.held(TTL);
        world.keep = frame -> !(frame instanceof SessionFrame.Data); // no echo of its own either
        world.member.input(new Input.Died(first.session()));
        world.pass(1_000 * MS);
        assertThat(world.clientSide().session()).isNotEqualTo(first);
        assertThat(world.client.told(ClientView.SessionGone.class)).hasSize(1);
        assertThat(world.clientSide().belief(TTL).holds(world.now)).isFalse();
    }

    @Test
    void aStallIsNotCountedAgainstAnybody() {
        World world = new World();
        world.held(TTL);
        world.deaf = true;
        world.now += 2 * TTL;
        world.member.input(new Input.Stalled(2 * TTL));
        assertThat(world.member.told(MemberView.Expired.class)).isEmpty();
        world.now += TTL;
        world.member.input(new Input.Tick());
        assertThat(world.member.told(MemberView.Expired.class)).hasSize(1);
    }

    @Test
    void whoWasHeardAfterAStallLivesNoLongerForIt() {
        World world = new World();
        world.held(TTL);
        world.now += TTL / 2; // the member stands still in the middle of a turn, then reads on
        world.client.work(turn -> turn.client().confirm(Numbered.KEY));
        world.settle();
        world.member.input(new Input.Stalled(TTL / 2));
        world.deaf = true;
        world.now += TTL;
        world.member.input(new Input.Tick());
        assertThat(world.member.told(MemberView.Expired.class)).hasSize(1);
    }

    @Test
    void aStampIsTheClockOfTheFlushNotOfTheTurn() {
        World world = new World();
        world.connect(TTL);
        Cell cell = world.client.cell;
        cell.input(
                new Input.Command(
                        Numbered.KEY,
                        new Numbered.Do(turn -> turn.send(turn.client().session(), World.number(1)))),
                world.client);
        world.now += 3 * MS;
        cell.flush(world.client);
        assertThat(world.client.lastSent(Data.class).stamp()).isEqualTo(world.now);
    }

    @Test
    void anEchoOfWhatWasNeverSentBreaksTheLink() {
        World world = new World();
        Peer peer = world.held(TTL);
        long link = world.open.first();
        Data future = new Data(peer.session(), 1, 0, true, world.now + TTL, 0, List.of());
        world.client.input(new Input.Arrived(link, future));
        assertThat(world.open).doesNotContain(link);
        world.pass(1_000 * MS);
        assertThat(world.clientSide().session()).isEqualTo(peer);
        assertThat(world.clientSide().connected()).isTrue();
    }

    @Test
    void anAcknowledgementOfWhatWasNeverSentBreaksTheLink() {
        World world = new World();
        Peer peer = world.held(TTL);
        world.member.input(
                new Input.Arrived(world.open.first(), new Data(peer.session(), 2, 99, true, 1, 0, List.of())));
        assertThat(world.open).isEmpty();
        assertThat(world.member.told(MemberView.SessionEnded.class)).isEmpty();
    }

    @Test
    void aReceiptComesWithTheAcknowledgementAndAConfirmationWithItsEcho() {
        World world = new World();
        world.connect(TTL);
        List<Long> numbers = new ArrayList<>();
        world.client.work(turn -> {
            long number = turn.send(turn.client().session(), World.number(1));
            turn.client().receipt(Numbered.KEY, number);
            turn.client().confirm(Numbered.KEY);
            numbers.add(number);
        });
        assertThat(world.client.told(ClientView.Received.class)).isEmpty();
        assertThat(world.client.told(ClientView.Echoed.class)).isEmpty();
        world.settle();
        assertThat(world.client.told(ClientView.Received.class))
                .containsExactly(new ClientView.Received(numbers.get(0)));
        assertThat(world.client.told(ClientView.Echoed.class)).hasSize(1);
    }

    @Test
    void aSilentWaiterIsHeardOnce() {
        World world = new World();
        Peer peer = world.connect(TTL);
        world.member.work(turn -> turn.member().listen(peer, Numbered.KEY));
        world.pass(3 * TTL);
        assertThat(world.member.told(MemberView.Heard.class)).containsExactly(new MemberView.Heard(peer));
    }

    @Test
    void anIdleSessionOfAMemberThatIsGoneIsForgotten() {
        World world = new World();
        world.connect(TTL);
        world.client.work(turn -> turn.client().unawait(Numbered.KEY, TTL));
        world.reachable = false;
        world.cut(1);
        world.pass(World.MAX_TTL);
        assertThat(world.clientSide().exists()).isFalse();
        int dials = world.dials;
        assertThat(dials).isGreaterThan(10);
        world.pass(10 * World.MAX_TTL);
        assertThat(world.dials).isEqualTo(dials);
    }

    @Test
    void whoWaitsForAMemberThatIsGoneHearsThatTheSessionIsOver() {
        World world = new World();
        world.connect(TTL);
        world.reachable = false;
        world.cut(1);
        world.pass(World.MAX_TTL);
        assertThat(world.clientSide().exists()).isFalse();
        assertThat(world.client.told(ClientView.SessionGone.class)).hasSize(1);
        int dials = world.dials;
        world.pass(10 * World.MAX_TTL);
        assertThat(world.dials).as("it goes on trying").isGreaterThan(dials);
    }

    @Test
    void aLeaseIsNotToldBeforeItsPromiseIsOnDisk() {
        World world = new World();
        world.keepHorizon(World.MEMBER, 7, 60_000 * MS);
        Peer peer = world.connect(TTL);
        assertThat(world.member.unforced).as("no lease, no promise").isEmpty();
        world.member.work(turn -> {
            turn.member().grant(peer, Numbered.KEY, 5, TTL);
            turn.send(peer, World.number(9));
        });
        world.settle();
        assertThat(world.client.heard()).isEmpty();
        assertThat(world.member.unforced.values()).containsExactly(new MemberPromise(7, world.now + TTL + 60_000 * MS));
        world.member.force();
        world.settle();
        assertThat(world.client.heard()).containsExactly(9L);
        world.pass(40_000 * MS);
        assertThat(world.member.unforced)
                .as("the next promise is asked for ahead of need")
                .hasSize(1);
        world.sendFromMember(peer, 10);
        world.settle();
        assertThat(world.client.heard()).as("and nothing waits for it").containsExactly(9L, 10L);
        world.pass(60_000 * MS);
        world.sendFromMember(peer, 11);
        world.settle();
        assertThat(world.client.heard()).as("until it is needed").containsExactly(9L, 10L);
        world.member.force();
        world.settle();
        assertThat(world.client.heard()).containsExactly(9L, 10L, 11L);
    }

    @Test
    void whatIsKeptBeyondItsLeaseIsNotToldBeforeItsPromiseIsOnDisk() {
        World world = new World();
        world.keepHorizon(World.MEMBER, 7, 60_000 * MS);
        Peer peer = world.connect(TTL);
        world.member.work(turn -> {
            turn.member().grant(peer, Numbered.KEY, 5, TTL);
            turn.send(peer, World.number(9));
        });
        world.settle();
        world.member.force();
        world.settle();
        long promised = world.now + TTL + 60_000 * MS;
        long kept = world.now + 2 * TTL;
        world.member.work(turn -> {
            turn.member().keep(kept);
            turn.send(peer, World.number(10));
        });
        world.settle();
        assertThat(world.client.heard()).containsExactly(9L);
        assertThat(world.member.unforced.values())
                .as("also where the horizon covers it")
                .containsExactly(new MemberPromise(7, promised, kept));
        world.member.force();
        world.settle();
        assertThat(world.client.heard()).containsExactly(9L, 10L);
        world.member.work(turn -> {
            turn.member().keep(kept - 1);
            turn.send(peer, World.number(11));
        });
        world.settle();
        assertThat(world.client.heard()).as("what is covered waits for nothing").containsExactly(9L, 10L, 11L);
    }

    @Test
    void aMemberThatHearsOfAHigherEpochOfItselfGrantsNoMoreForAQuarantine() {
        World world = new World();
        world.held(TTL);
        world.restartMember(new Incarnation(0xA, 2), 3, 0);
        world.pass(1_000 * MS);
        assertThat(world.goals).contains("EPOCH_ADOPTED");
        assertThat(world.memberSide().epoch()).isEqualTo(8);
        assertThat(world.memberSide().quarantined()).isTrue();
        world.pass(world.memberSide().quarantine());
        world.pass(TTL);
        assertThat(world.memberSide().quarantined()).isFalse();
    }

    @Test
    void anEpochThatBeganAfterTheWelcomeIsToldToAMemberThatLostIt() {
        World world = new World();
        world.held(TTL);
        long welcomed = world.memberSide().epoch();
        world.member.work(turn -> turn.member().raiseEpoch(turn.member().epoch() + 1, turn));
        world.client.work(turn -> turn.client().heard(welcomed + 1));
        world.restartMember(new Incarnation(0xA, 2), welcomed, 0);
        world.pass(1_000 * MS);
        assertThat(world.goals).contains("EPOCH_ADOPTED");
        assertThat(world.memberSide().epoch()).isEqualTo(welcomed + 2);
        assertThat(world.memberSide().quarantined()).isTrue();
    }

    @Test
    void anEpochThatIsHeardOfShortensNoWait() {
        World world = new World();
        world.held(TTL);
        world.restartMember(new Incarnation(0xA, 2), 3, 10 * World.MAX_TTL);
        world.pass(1_000 * MS);
        assertThat(world.memberSide().epoch()).isEqualTo(8);
        world.pass(5 * World.MAX_TTL);
        assertThat(world.memberSide().quarantined()).isTrue();
        world.pass(5 * World.MAX_TTL);
        assertThat(world.memberSide().quarantined()).isFalse();
    }

    @Test
    void theQuarantineOfAnAdoptedEpochIsOnDiskBeforeAnythingIsSaid() {
        World world = new World();
        world.held(TTL);
        world.restartMember(new Incarnation(0xA, 2), 3, 0);
        world.keepHorizon(new Incarnation(0xA, 2), 3, MS);
        world.pass(100 * MS);
        MemberPromise record =
                (MemberPromise) world.member.unforced.values().iterator().next();
        assertThat(record.epoch()).isEqualTo(8);
        assertThat(record.horizon())
                .as("the next start must wait as long as this one")
                .isGreaterThan(world.now - 100 * MS + world.memberSide().quarantine() - 1);
    }

    @Test
    void twoCopiesOfACellBehaveAlike() {
        World world = new World();
        world.held(TTL);
        world.sendFromClient(2);
        World.End end = world.member;
        Cell copy = end.cell.copy();
        assertThat(copy.fingerprint(world.now)).isEqualTo(end.cell.fingerprint(world.now));
        for (Input input : List.copyOf(world.toMember)) {
            copy.input(input, end);
            end.cell.input(input, end);
        }
        assertThat(copy.fingerprint(world.now)).isEqualTo(end.cell.fingerprint(world.now));
        Cell client = world.client.cell.copy();
        world.now += 30_000 * MS;
        client.input(new Input.Tick(), world.client);
        world.client.cell.input(new Input.Tick(), world.client);
        assertThat(client.fingerprint(world.now)).isEqualTo(world.client.cell.fingerprint(world.now));
    }

    @Test
    void messagesOfOtherAlgorithmsBreakTheLink() {
        World world = new World();
        Peer peer = world.connect(TTL);
        Message foreign = new Numbered.Item(new Key(1, "x"), 1);
        world.now += MS;
        world.member.input(
                new Input.Arrived(world.open.first(), new Data(peer.session(), 1, 0, true, 1, 0, List.of(foreign))));
        assertThat(world.open).isEmpty();
        assertThat(world.member.heard()).isEmpty();
        assertThat(world.memberSide().silence(peer))
                .as("a frame counts as heard when all of it is done")
                .isEqualTo(MS);
    }
}
