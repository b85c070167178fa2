// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RanksTest {
    private static final List<String> THREE = List.of("c", "a", "b");
    private static final List<String> FIVE = List.of("a", "b", "c", "d", "e");

    private static List<String> order(int shard, List<String> members) {
        return new Ranks(shard, 64).order(members);
    }

    /** How many of the first so many groups each member leads of those that are there. */
    private static Map<String, Integer> leads(int groups, List<String> members, Set<String> lost) {
        Map<String, Integer> leads = new TreeMap<>();
        for (int i = 0; i < groups; i++) {
            List<String> order = order(i, members);
            String leader = order.stream()
                    .filter(each -> !lost.contains(each))
                    .findFirst()
                    .orElseThrow();
            leads.merge(leader, 1, Integer::sum);
        }
        return leads;
    }

    @Test
    void theGroupsTakeTheMembersInAllOrders() {
        assertThat(order(0, THREE)).containsExactly("a", "b", "c");
        assertThat(order(1, THREE)).containsExactly("b", "c", "a");
        assertThat(order(2, THREE)).containsExactly("c", "a", "b");
        assertThat(order(3, THREE)).containsExactly("a", "c", "b");
        assertThat(order(6, THREE)).as("all orders have been").isEqualTo(order(0, THREE));
        Set<List<String>> all = new HashSet<>();
        for (int i = 0; i < 6; i++) {
            all.add(order(i, THREE));
        }
        assertThat(all).hasSize(6);
    }

    @Test
    void membersLeadAsManyGroupsAndThoseOfALostOneGoToAllOthers() {
        assertThat(leads(6, THREE, Set.of())).containsOnly(Map.entry("a", 2), Map.entry("b", 2), Map.entry("c", 2));
        for (String lost : THREE) {
            assertThat(leads(6, THREE, Set.of(lost)).values()).containsOnly(3);
        }
        for (String lost : FIVE) {
            assertThat(leads(20, FIVE, Set.of(lost)).values()).containsOnly(5);
        }
        assertThat(leads(60, FIVE, Set.of("b", "e")).values()).containsOnly(20);
    }

    @Test
    void aPlaceComesBeforeWhatWasDrawnAndAPriorityBeforeAPlace() {
        Ranks second = new Ranks(1, 2);
        int most = (1 << Identifier.RANDOM_BITS) - 1;
        Identifier a = new Identifier(14, second.before(0, "a", THREE), "a");
        Identifier b = new Identifier(14, second.before(most, "b", THREE), "b");
        Identifier c = new Identifier(13, second.before(most, "c", THREE), "c");
        assertThat(b).isLessThan(a);
        assertThat(c).isLessThan(b);
        assertThat(second.before(most, "d", THREE)).as("of none of them").isEqualTo(most);
    }

    @Test
    void ofOneGroupChanceDecides() {
        assertThat(Ranks.NONE.before(12345, "c", THREE)).isEqualTo(12345);
    }
}
