// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static io.keyway.lock.peer.session.World.MS;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a member grants that has to wait for the word of others. */
class OpeningTest {
    private static final long TTL = 10_000 * MS;

    private final World world = new World();

    @BeforeEach
    void startWithoutTheWordOfTheOthers() {
        restart(3);
    }

    private void restart(long epoch) {
        MemberSessions sessions = World.memberSessions(
                World.settings("c", Authenticator.none()), new Incarnation(0xA, epoch), epoch, Turn.NEVER);
        world.member = world.new End(true, new Cell(new Numbered(), sessions));
        world.member.input(new Input.Tick());
    }

    private void pass(long nanos) {
        world.now += nanos;
        world.member.input(new Input.Tick());
    }

    private boolean closed() {
        return world.memberSide().quarantined();
    }

    @Test
    void aListThatNobodyConfirmsKeepsTheMemberClosedForEver() {
        pass(100 * World.MAX_TTL);
        assertThat(closed()).isTrue();
        world.member.input(new Input.Proved());
        assertThat(closed())
                .as("death of former holders says nothing of other members")
                .isTrue();
        world.member.input(new Input.Stalled(MS));
        assertThat(closed()).isTrue();
    }

    @Test
    void aConfirmedListOpensTheMemberAtItsTime() {
        world.member.input(new Input.Confirmed(world.now + 5 * MS, 0, false));
        assertThat(world.member.cell.nextDue()).isEqualTo(world.now + 5 * MS);
        pass(4 * MS);
        assertThat(closed()).isTrue();
        pass(MS);
        assertThat(closed()).isFalse();
    }

    @Test
    void aTimeThatHasPassedOpensItAtOnce() {
        pass(MS);
        world.member.input(new Input.Confirmed(world.now - MS, 0, false));
        assertThat(closed()).isFalse();
    }

    @Test
    void aStallAddsToTheTimeThatIsLeft() {
        world.member.input(new Input.Confirmed(world.now + 5 * MS, 0, false));
        world.now += 6 * MS;
        world.member.input(new Input.Stalled(3 * MS));
        assertThat(closed()).isTrue();
        pass(2 * MS);
        assertThat(closed()).isFalse();
    }

    @Test
    void clientsAreToldOfAWholeQuarantineWhileNobodyKnowsItsEnd() {
        world.client.work(turn -> turn.client().await(Numbered.KEY, TTL));
        world.settle();
        assertThat(world.member.lastSent(Welcome.class).quarantine())
                .isEqualTo(world.memberSide().quarantine());
    }

    @Test
    void anEpochThatWasHeardOfMeanwhileIsWaitedForAllTheSame() {
        world.member.input(new Input.EpochTaken(9));
        assertThat(world.memberSide().epoch()).isEqualTo(9);
        world.member.input(new Input.Confirmed(world.now, 0, false));
        assertThat(closed()).isTrue();
        pass(world.memberSide().quarantine());
        assertThat(closed()).isFalse();
    }

    @Test
    void aMemberOpensWithNoLowerEpochThanThoseThatConfirmed() {
        long own = world.memberSide().epoch();
        world.member.input(new Input.Confirmed(world.now + MS, own + 3, false));
        assertThat(world.memberSide().epoch()).isEqualTo(own + 3);
        world.member.input(new Input.Confirmed(world.now + MS, own + 5, false));
        assertThat(world.memberSide().epoch()).as("the list is confirmed once").isEqualTo(own + 3);
        pass(MS);
        assertThat(closed()).isFalse();
    }

    @Test
    void anEpochOfASiblingClosesACellThatDidNotKnowIt() {
        world.member.input(new Input.Confirmed(world.now, 0, false));
        world.member.input(new Input.EpochTaken(3));
        assertThat(closed()).as("its own").isFalse();
        world.member.input(new Input.EpochTaken(2));
        assertThat(closed()).as("an older one").isFalse();

        world.member.input(new Input.EpochTaken(4));
        assertThat(closed()).isTrue();
        world.member.force();
        assertThat(world.member.notices).containsExactly(new EpochAdopted(4));
        pass(world.memberSide().quarantine());
        assertThat(closed()).isFalse();
    }
}
