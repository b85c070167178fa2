// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.keyway.lock.peer.home.Ticket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MemberNumbersTest {
    private static final ViewId ID = new ViewId(1, "a", 1);

    private static View first(String... members) {
        return View.NONE.next(ID, List.of(), List.of(members));
    }

    @Test
    void whoStaysKeepsItsNumberAndWhoComesGetsANewOne() {
        View abc = first("a", "b", "c");
        View ac = abc.next(ID, List.of(), List.of("a", "c"));
        View acd = ac.next(ID, List.of(), List.of("a", "c", "d"));
        View acdb = acd.next(ID, List.of(), List.of("a", "c", "d", "b"));

        assertThat(abc.numbers()).isEqualTo(new MemberNumbers(List.of(1, 2, 3), 3));
        assertThat(ac.numbers()).isEqualTo(new MemberNumbers(List.of(1, 3), 3));
        assertThat(acd.number("d")).isEqualTo(4);
        assertThat(acdb.number("b")).as("it comes again").isEqualTo(5);
        assertThat(acdb.number("c")).isEqualTo(3);
        assertThat(acdb.member(5)).isEqualTo("b");
        assertThat(acdb.member(2)).isEmpty();
        assertThat(ac.number("b")).isZero();
    }

    @Test
    void aNumberIsGivenAgainWhenAllOthersHaveBeen() {
        SplittableRandom random = new SplittableRandom(20261125);
        View view = first("m1", "m2", "m3");
        List<String> members = new ArrayList<>(view.members());
        Map<Integer, Integer> givenAt = new HashMap<>();
        int given = 0;
        for (int i = 4; i < 3_000; i++) {
            if (members.size() > 1 && random.nextInt(3) > 0) {
                members.remove(random.nextInt(members.size()));
            }
            if (members.size() < ElectionCodec.MAX_MEMBERS) {
                members.add("m" + i);
            }
            View next = view.next(ID, List.of(), members);
            for (String member : members) {
                int number = next.number(member);
                assertThat(number).isBetween(1, Ticket.MAX_PROCESS);
                assertThat(next.member(number)).isEqualTo(member);
                if (view.members().contains(member)) {
                    assertThat(number).isEqualTo(view.number(member));
                } else {
                    Integer before = givenAt.put(number, ++given);
                    assertThat(before == null ? MemberNumbers.LARGEST : given - before)
                            .as("so many were given since")
                            .isGreaterThanOrEqualTo(MemberNumbers.LARGEST - ElectionCodec.MAX_MEMBERS);
                }
            }
            view = next;
        }
        assertThat(given).isGreaterThan(5 * MemberNumbers.LARGEST);
    }

    @Test
    void noTwoMembersHaveOneNumber() {
        assertThatIllegalArgumentException().isThrownBy(() -> new MemberNumbers(List.of(1, 1), 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new MemberNumbers(List.of(0), 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new MemberNumbers(List.of(128), 1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new View(ID, List.of(), true, List.of("a"), new MemberNumbers(List.of(), 0)));
    }
}
