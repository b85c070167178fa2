// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.service.Algorithm;
import io.keyway.lock.peer.session.Authenticator;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MemberListTest {
    private static final MemberList THREE = MemberList.parse("a:7400,b:7400,c:7400");

    /** The hash that members tell each other in their handshake. */
    private static long told(MemberList list) {
        return told(list, Algorithms.standard());
    }

    private static long told(MemberList list, Algorithm algorithm) {
        List<String> ids = list.members().stream().map(NodeId::toString).toList();
        return new Cells("c", Duration.ofSeconds(60), algorithm, Authenticator.none())
                .among(ids, 4)
                .membersHash();
    }

    /** Somebody who says hello may write anything. */
    @Test
    void whatIsNotWrittenAsAnIdIsNone() {
        assertThat(NodeId.isOne("a:7400")).isTrue();
        assertThat(NodeId.isOne("[::1]:7400")).isTrue();
        for (String text : new String[] {"", "x", "A:7400", "a:07400", "a:0", "a b:1", "::1:7400"}) {
            assertThat(NodeId.isOne(text)).as(text).isFalse();
        }
    }

    @Test
    void theCellsOfAMemberShareItsNamesEvenly() {
        int[] names = new int[4];
        for (int i = 0; i < 4000; i++) {
            names[MemberList.shard("jobs/" + i, 4)]++;
        }
        assertThat(Arrays.stream(names).boxed())
                .allSatisfy(each -> assertThat(each).isBetween(900, 1100));
        assertThat(List.of("nightly", "jobs/größe", "d", "orders/7").stream().map(name -> MemberList.shard(name, 4)))
                .containsExactly(2, 2, 3, 0);
    }

    @Test
    void membersOfABakeryAgreeOnTheNumberOfTheirLeaders() {
        Algorithm bakery = Algorithms.named("bakery").orElseThrow();
        assertThat(told(THREE, bakery.electing(OptionalInt.of(3), OptionalInt.of(1))))
                .isEqualTo(told(THREE, bakery));
        assertThat(told(THREE, bakery.electing(OptionalInt.of(1), OptionalInt.of(14))))
                .isNotEqualTo(told(THREE, bakery));
        assertThat(told(THREE, bakery.electing(OptionalInt.of(5), OptionalInt.of(14))))
                .isNotEqualTo(told(THREE, bakery.electing(OptionalInt.of(1), OptionalInt.of(14))));
    }

    @Test
    void orderSpellingAndRepetitionDoNotMatter() {
        MemberList other = MemberList.parse("C:7400, a:7400,B:7400,a:7400");
        assertThat(other).isEqualTo(THREE);
        assertThat(told(other)).isEqualTo(told(THREE));
        assertThat(told(MemberList.parse("a:7400,b:7400"))).isNotEqualTo(told(THREE));
    }

    @Test
    void namesAreSpreadEvenly() {
        Map<NodeId, Integer> counts = new HashMap<>();
        for (int i = 0; i < 30_000; i++) {
            counts.merge(THREE.owner("jobs/" + i), 1, Integer::sum);
        }
        assertThat(counts).hasSize(3);
        assertThat(counts.values()).allSatisfy(count -> assertThat(count).isBetween(9_500, 10_500));
    }

    @Test
    void aMemberThatLeavesMovesItsOwnNamesOnly() {
        MemberList two = MemberList.parse("a:7400,c:7400");
        NodeId gone = NodeId.parse("b:7400");
        for (int i = 0; i < 10_000; i++) {
            NodeId owner = THREE.owner("n" + i);
            if (!owner.equals(gone)) {
                assertThat(two.owner("n" + i)).isEqualTo(owner);
            }
        }
    }

    @Test
    void theHashIsTheSameForEver() {
        assertThat(Long.toHexString(told(THREE))).isEqualTo("a1924b0e9844a808");
        assertThat(THREE.owner("nightly")).hasToString("c:7400");
        assertThat(THREE.owner("jobs/größe")).hasToString("c:7400");
        assertThat(THREE.owner("d")).hasToString("a:7400");
        assertThat(THREE.owner("orders/7")).hasToString("b:7400");
    }

    @Test
    void aNameThatSaysItsMemberIsThatMembersAsLongAsItIsOne() {
        for (String member : List.of("a:7400", "b:7400", "c:7400")) {
            String part = "@" + member + "/orders/7";
            assertThat(THREE.owner(part)).hasToString(member);
            for (int shard = 0; shard < 4; shard++) {
                boolean own = MemberList.shard(part, 4) == shard;
                assertThat(THREE.decidedBy(NodeId.parse(member), shard, 4).test(part))
                        .isEqualTo(own);
            }
            assertThat(THREE.owner("@" + member)).as("no segment follows").isNotNull();
        }
        MemberList others = MemberList.parse("a:7400,b:7400");
        assertThat(others.members()).contains(others.owner("@c:7400/orders/7"));
    }

    @Test
    void addressesAreReadAndPrinted() {
        assertThat(NodeId.parse("Host.example:7400")).hasToString("host.example:7400");
        assertThat(NodeId.parse("[FE80::1]:1")).hasToString("[fe80::1]:1");
        assertThat(NodeId.parse("10.0.0.1:65535").port()).isEqualTo(65535);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "a", "a:", ":7400", "a:b", "a:0", "a:65536", "::1:7400", "a b:1", "a/b:1", "a,b", "[]:1"})
    void whatIsNoAddressIsRefused(String text) {
        assertThatThrownBy(() -> NodeId.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aClusterHasAMember() {
        assertThatThrownBy(() -> MemberList.parse("")).isInstanceOf(IllegalArgumentException.class);
    }
}
