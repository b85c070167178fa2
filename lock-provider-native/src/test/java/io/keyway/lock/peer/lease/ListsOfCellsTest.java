// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.election.ElectionCall;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockMessage.ChangeMembers;
import io.keyway.lock.peer.service.LockMessage.Members;
import io.keyway.lock.peer.session.ListOfCell;
import java.util.List;
import org.junit.jupiter.api.Test;

class ListsOfCellsTest {
    private static final Key KEY = FailoverKeys.LEADERSHIP;

    private final ListsOfCells lists = new ListsOfCells();

    private static ElectionCall change(String member, boolean add) {
        return new ElectionCall.ChangeMembers(member, add);
    }

    private Members answer(String member, boolean add, String... first) {
        ChangeMembers wish = new ChangeMembers(KEY, 1, member, add);
        return lists.answer(wish, new Members(KEY, 1, List.of(first), false, ""), 3);
    }

    @Test
    void theListOfAnotherCellBecomesThatOfTheFirstOneByOne() {
        List<String> members = List.of("a", "b", "c");
        assertThat(lists.change(members)).as("nothing is known yet").isEmpty();
        lists.heard(new ListOfCell(0, List.of("b", "a", "c")));
        assertThat(lists.change(members)).as("in whichever order").isEmpty();
        lists.heard(new ListOfCell(0, List.of("a", "b", "d")));
        assertThat(lists.change(members)).contains(change("d", true));
        assertThat(lists.change(List.of("a", "b", "c", "d"))).contains(change("c", false));
        assertThat(lists.change(List.of("a", "b", "d"))).isEmpty();
        assertThat(lists.change(List.of())).as("before the first view").isEmpty();
        assertThat(lists.copy().change(members)).contains(change("d", true));
    }

    @Test
    void anAdministratorHearsThatItIsSoWhenItIsInAllGroups() {
        assertThat(answer("d", true, "a", "b").members()).as("nor in the first").containsExactly("a", "b");
        assertThat(answer("d", true, "a", "b", "d")).satisfies(told -> {
            assertThat(told.members()).doesNotContain("d");
            assertThat(told.refused()).isFalse();
            assertThat(told.why()).contains("shard 1 of 3");
        });
        lists.heard(new ListOfCell(1, List.of("a", "b", "d")));
        lists.heard(new ListOfCell(2, List.of("a", "b")));
        assertThat(answer("d", true, "a", "b", "d").why()).contains("shard 2 of 3");
        lists.heard(new ListOfCell(2, List.of("b", "a", "d")));
        assertThat(answer("d", true, "a", "b", "d").members()).containsExactly("a", "b", "d");
        assertThat(answer("b", false, "a", "d").members())
                .as("it is a member still")
                .contains("b");
        assertThat(answer("", true, "a", "d").members()).as("who only asks").containsExactly("a", "d");
    }
}
