// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.client.LockClientHelper;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.queue.LockManager;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Tokens;
import io.keyway.lock.spi.Owner;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** F17: what survives a restart of the member, and what must not. */
class LeaseRestartTest extends LeaseScenarios {
    private static final long MS = LeaseWorld.MS;
    private static final long TTL = LeaseWorld.TTL;

    @Test
    void f17_aHolderReassertsDuringQuarantineAndKeepsItsToken() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        world.restart(true);
        c(1).acquire("a");
        world.advance(2 * TTL);
        assertThat(c(0).believes("a")).isEqualTo(token);
        world.advance(3 * TTL);
        assertThat(c(1).believes("a")).isZero();
        c(0).release("a");
        world.settle();
        assertThat(c(1).believes("a")).isGreaterThan(token);
        assertThat(world.goals).contains(LockGoal.BELIEF_FROZEN, LockGoal.REASSERTED);
    }

    /** Nobody holds it: to wait is to wait for the member, until somebody has it. */
    @Test
    void whoWaitsForAMemberThatGrantsNothingYetIsNotToldThatItIsTaken() {
        world.restart(true);
        long first = c(0).acquireWithPlace("a");
        long behind = c(0).acquireWithPlace("a");
        long other = c(1).acquireWithPlace("a");
        world.settle();
        assertThat(c(0).places()).isEmpty();
        assertThat(c(1).places()).isEmpty();
        assertThat(closedTo(c(0))).containsExactly(first, behind);
        assertThat(closedTo(c(1))).containsExactly(other);
        long late = c(0).acquireWithPlace("a");
        world.settle();
        assertThat(closedTo(c(0))).containsExactly(first, behind, late);

        world.advance(5 * TTL);

        assertThat(c(0).believes("a")).isPositive();
        assertThat(c(0).places()).containsExactlyInAnyOrder(behind + ":-1", late + ":-1");
        assertThat(c(1).places()).hasSize(1).first().asString().startsWith(other + ":");
    }

    @Test
    void whoWaitsForAHolderThatClaimsItsGrantIsToldThatItIsTaken() {
        c(0).acquire("a");
        world.settle();
        c(0).isolate();
        world.restart(true);
        long next = c(1).acquireWithPlace("a");
        world.settle();
        assertThat(closedTo(c(1))).containsExactly(next);
        assertThat(c(1).places()).isEmpty();
        c(0).lose(true);
        c(0).open();
        world.settle();
        assertThat(c(0).believes("a")).isPositive();
        assertThat(c(1).places()).containsExactly(next + ":0");
    }

    private static List<Long> closedTo(LeaseWorld.Client client) {
        return client.notices.stream()
                .filter(notice -> notice instanceof LockNotice.Trouble trouble && trouble.closed())
                .map(notice -> ((LockNotice.Trouble) notice).request())
                .toList();
    }

    @Test
    void aRecallRightBehindTheConfirmationIsNotLost() {
        c(0).acquire("a");
        world.settle();
        world.restart(true);
        c(0).holdToClient(true);
        world.settle();
        c(1).acquire("a");
        world.settle();
        c(0).holdToClient(false);
        world.settle();
        world.advance(4 * TTL);
        assertThat(c(0).release("a")).as("it knows that it is wanted").isFalse();
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
    }

    @Test
    void f17_aReassertionAfterTheQuarantineIsRefused() {
        c(0).acquire("a");
        world.settle();
        world.restart(Turn.NEVER);
        world.settle();
        assertThat(c(0).told()).isEqualTo("Granted, Doubted, Ended");
        assertThat(world.goals).contains(LockGoal.REASSERTION_REFUSED);
    }

    @Test
    void beliefStaysFrozenUntilTheReassertionIsConfirmed() {
        c(0).acquire("a");
        world.settle();
        long asked = world.now();
        world.restart(true);
        c(0).holdToClient(true);
        world.advance(TTL * 3 / 4 - 1);
        assertThat(c(0).believes("a")).isPositive();
        world.advance(1);
        assertThat(world.now() - asked).isEqualTo(TTL * 3 / 4);
        assertThat(c(0).believes("a")).isZero();
        assertThat(c(0).told()).isEqualTo("Granted, Doubted, Ended");
        c(0).holdToClient(false);
        world.advance(TTL / 4);
        assertThat(c(0).believes("a")).isZero();
        assertThat(world.manager("a"))
                .as("the claim was taken back by its token")
                .isNull();
    }

    @Test
    void anIdleCacheIsNotReasserted() {
        c(0).acquire("a");
        world.settle();
        c(0).release("a");
        world.traced();
        world.restart(true);
        world.settle();
        assertThat(world.traced()).isEqualTo("c0>m Release");
        assertThat(c(0).phase("a")).isEqualTo(LockClientHelper.Phase.REST);
    }

    @Test
    void aReleaseOfAFrozenGrantIsToldToTheNewMember() {
        c(0).acquire("a");
        world.settle();
        c(0).isolate();
        world.restart(true);
        c(0).lose(true);
        c(0).release("a");
        assertThat(c(0).told()).isEqualTo("Granted, Doubted, ReleaseDone");
        world.traced();
        c(0).open();
        world.settle();
        assertThat(world.traced()).isEqualTo("c0>m Release");
        assertThat(c(0).phase("a")).isEqualTo(LockClientHelper.Phase.REST);
        assertThat(c(0).cell.residents()).isZero();
    }

    @Test
    void conflictingReassertionsAreBothRefusedAndTheNameStaysClosed() {
        c(0).acquire("a");
        c(1).acquire("b");
        world.settle();
        long a = c(0).believes("a");
        world.restart(true);
        world.settle();
        // A client whose clock or memory is broken claims what c0 has re-asserted.
        c(1).claim("a", a + 5);
        world.settle();
        assertThat(c(0).told()).isEqualTo("Granted, Doubted, Certain, Ended");
        assertThat(world.memberNotices).singleElement().isInstanceOf(LockNotice.Alarm.class);
        assertThat(world.goals).contains(LockGoal.REASSERTIONS_IN_CONFLICT);
        long closed = world.now();
        world.advance(2 * TTL);
        c(2).acquire("a");
        world.advance(closed + 4 * TTL - 1 - world.now());
        assertThat(c(2).believes("a")).isZero();
        world.advance(1);
        assertThat(c(2).believes("a")).isPositive();
    }

    @Test
    void waitersOfAMemberThatRestartedKeepTheOrderOfTheirCalls() {
        c(0).acquire("a");
        world.settle();
        c(1).acquire("a");
        world.advance(100 * MS);
        c(2).acquire("a");
        world.settle();
        c(1).isolate();
        world.restart(true);
        c(1).lose(true);
        world.advance(100 * MS);
        // c1 is back after c2, and yet before it in the queue.
        c(1).open();
        world.advance(4 * TTL);
        c(0).release("a");
        world.settle();
        assertThat(c(1).believes("a")).isPositive();
        assertThat(c(2).believes("a")).isZero();
    }

    @Test
    void anImportedGrantHoldsForAFullTtlAndCanBeReasserted() {
        c(0).acquire("a");
        c(0).acquire("b");
        world.settle();
        long a = c(0).believes("a");
        c(1).isolate();
        LockManager was = world.manager("b");
        assertThat(was).isNotNull();
        world.restart(Turn.NEVER, () -> {
            world.command("a", imported(a));
            world.command("b", imported(a));
        });
        assertThat(c(0).believes("a")).isEqualTo(a);
        c(0).release("b");
        c(2).acquire("b");
        world.settle();
        assertThat(c(2).believes("b")).isPositive();
        c(2).acquire("a");
        world.advance(2 * TTL);
        assertThat(c(0).believes("a")).isEqualTo(a);
        assertThat(c(2).believes("a")).isZero();
    }

    @Test
    void anImportedGrantThatNobodyClaimsEndsAfterItsTtl() {
        world.command("a", imported(7L << 31 | 3));
        c(0).acquire("a");
        world.advance(TTL - 1);
        assertThat(c(0).believes("a")).isZero();
        world.advance(1);
        assertThat(c(0).believes("a")).isGreaterThan(7L << 31 | 3);
    }

    private static LockCall.Import imported(long token) {
        return new LockCall.Import(
                token, token + Tokens.RANGE - 1, LockMode.EXCLUSIVE, 1, TTL, TTL, new Owner("before", Map.of()));
    }
}
