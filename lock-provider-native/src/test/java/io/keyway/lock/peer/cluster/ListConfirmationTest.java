// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.member.StoredList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ListConfirmationTest {
    private static final long Q = 1_000;
    private static final List<String> ABC = List.of("a:1", "b:1", "c:1");
    private static final List<String> ABD = List.of("a:1", "b:1", "d:1");

    @Test
    void aMemberThatHasOpenedUnderThisListAsksNobody() {
        ListConfirmation start = start(List.of("c:1", "a:1", "b:1"), Optional.of(new StoredList(ABC, true)), false);

        assertThat(start.changed()).isFalse();
        assertThat(start.awaited()).isEmpty();
        assertThat(start.openAt()).isEqualTo(10);
        assertThat(start.firstUse()).isFalse();
    }

    @Test
    void aMemberWithoutAFileWaitsForAllOthersAndThenAQuarantine() {
        ListConfirmation start = start(ABC, Optional.empty(), false);
        assertThat(start.changed()).isTrue();
        assertThat(start.awaited()).containsExactly("b:1", "c:1");

        start.confirmed("c:1", false, 0, Q, 500);
        assertThat(start.openAt()).isEqualTo(Turn.NEVER);
        assertThat(start.awaited()).containsExactly("b:1");

        start.confirmed("b:1", false, 0, Q, 700);
        assertThat(start.openAt()).isEqualTo(700 + Q);
    }

    @Test
    void theLongestLeaseOfAnyMemberCounts() {
        ListConfirmation start = start(ABC, Optional.empty(), false);
        start.confirmed("b:1", false, 0, 6 * Q, 500);
        start.confirmed("c:1", false, 0, Q / 6, 700);

        assertThat(start.openAt()).isEqualTo(700 + 6 * Q);
    }

    @Test
    void aWordThatIsRepeatedMovesNothing() {
        ListConfirmation start = start(ABC, Optional.empty(), false);
        start.confirmed("b:1", false, 0, Q, 500);
        start.confirmed("c:1", false, 0, Q, 700);
        start.confirmed("b:1", false, 0, Q, 5_000);
        start.confirmed("z:1", false, 0, Q, 6_000);

        assertThat(start.openAt()).isEqualTo(700 + Q);
    }

    @Test
    void aListThatNeverOpenedIsConfirmedAgain() {
        ListConfirmation start = start(ABC, Optional.of(new StoredList(ABC, false)), false);

        assertThat(start.changed()).isTrue();
        assertThat(start.awaited()).containsExactly("b:1", "c:1");
    }

    @Test
    void membersThatAreAllFreshOpenAtOnce() {
        ListConfirmation start = start(ABC, Optional.empty(), true);
        start.confirmed("b:1", true, 0, Q, 500);
        start.confirmed("c:1", true, 0, Q, 700);

        assertThat(start.openAt()).isEqualTo(700);
        assertThat(start.firstUse()).isTrue();
    }

    @Test
    void oneMemberThatIsNotFreshMakesAFreshOneWait() {
        ListConfirmation start = start(ABC, Optional.empty(), true);
        start.confirmed("b:1", false, 0, Q, 500);
        start.confirmed("c:1", true, 0, Q, 700);

        assertThat(start.openAt()).isEqualTo(700 + Q);
        assertThat(start.firstUse()).isFalse();
    }

    @Test
    void aMemberThatIsNotFreshWaitsThoughAllOthersAre() {
        ListConfirmation start = start(ABC, Optional.empty(), false);
        start.confirmed("b:1", true, 0, Q, 500);
        start.confirmed("c:1", true, 0, Q, 700);

        assertThat(start.openAt()).isEqualTo(700 + Q);
    }

    @Test
    void theOnlyMemberWaitsForNobodyButTheQuarantine() {
        assertThat(start(List.of("a:1"), Optional.empty(), false).openAt()).isEqualTo(10 + Q);
        assertThat(start(List.of("a:1"), Optional.empty(), true).openAt()).isEqualTo(10);
    }

    @Test
    void aListThatLeavesSomebodyOutNeedsTheOperatorsWord() {
        Optional<StoredList> stored = Optional.of(new StoredList(ABC, true));

        assertThatThrownBy(() -> start(ABD, stored, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("was a:1,b:1,c:1")
                .hasMessageContaining("is to be a:1,b:1,d:1")
                .hasMessageContaining("--removed c:1");
        ListConfirmation start = ListConfirmation.start("a:1", ABD, stored, false, Set.of("c:1"), Q, 10);
        assertThat(start.awaited()).containsExactly("b:1", "d:1");
    }

    @Test
    void goingBackFromAListThatNeverOpenedLeavesItsNewMemberOutToo() {
        Optional<StoredList> stored = Optional.of(new StoredList(ABD, false));

        assertThatThrownBy(() -> start(ABC, stored, false)).hasMessageContaining("--removed d:1");
    }

    @Test
    void whoIsInTheListIsNotRemoved() {
        assertThatThrownBy(() -> ListConfirmation.start("a:1", ABC, Optional.empty(), false, Set.of("b:1"), Q, 10))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("b:1 cannot be removed");
    }

    @Test
    void aMemberIsInItsOwnList() {
        assertThatThrownBy(() -> ListConfirmation.start("z:1", ABC, Optional.empty(), false, Set.of(), Q, 10))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("z:1 is not in its own member list a:1,b:1,c:1");
    }

    @Test
    void aRemovedMemberMayBeNamedAgainAtTheNextStart() {
        ListConfirmation start =
                ListConfirmation.start("a:1", ABD, Optional.of(new StoredList(ABD, true)), false, Set.of("c:1"), Q, 10);

        assertThat(start.changed()).isFalse();
    }

    @Test
    void aCopyGoesItsOwnWay() {
        ListConfirmation start = start(ABC, Optional.empty(), true);
        ListConfirmation copy = start.copy();
        assertThat(print(copy)).isEqualTo(print(start));

        copy.confirmed("b:1", false, 0, Q, 500);
        assertThat(print(copy)).isNotEqualTo(print(start));
        assertThat(start.awaited()).containsExactly("b:1", "c:1");
    }

    private static long print(ListConfirmation confirmation) {
        StateEncoder canon = new StateEncoder(0);
        confirmation.encode(canon);
        return canon.fingerprint();
    }

    private static ListConfirmation start(List<String> members, Optional<StoredList> stored, boolean fresh) {
        return ListConfirmation.start("a:1", members, stored, fresh, Set.of(), Q, 10);
    }

    @Test
    void theHighestEpochOfAllThatConfirmedIsKnown() {
        ListConfirmation start = ListConfirmation.start(
                "a:1", List.of("a:1", "b:1", "c:1"), Optional.empty(), false, Set.of(), 1_000, 100);
        assertThat(start.epoch()).isZero();
        start.confirmed("b:1", false, 7, Q, 500);
        start.confirmed("c:1", false, 5, Q, 700);
        start.confirmed("c:1", false, 9, Q, 800);
        assertThat(start.epoch()).isEqualTo(7);
        assertThat(start.copy().epoch()).isEqualTo(7);
    }
}
