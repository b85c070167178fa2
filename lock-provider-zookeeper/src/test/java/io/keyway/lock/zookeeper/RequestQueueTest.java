// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.zookeeper.BreakMailbox.BrokenGrants;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a listing says, and how names are written in ZooKeeper. */
class RequestQueueTest {

    private static RequestQueue queue(String... names) {
        return RequestQueue.of(List.of(names));
    }

    private static List<String> holders(RequestQueue queue) {
        return queue.holders().stream().map(NodeName::name).toList();
    }

    @Test
    void theLowestNumberHoldsAlone() {
        RequestQueue queue = queue("b-2-x-0000000007", "a-1-x-0000000003", "c-3-s-0000000009");

        assertThat(holders(queue)).containsExactly("a-1-x-0000000003");
        assertThat(queue.waiters()).extracting(NodeName::name).containsExactly("b-2-x-0000000007", "c-3-s-0000000009");
    }

    /** As a request finds itself without a look at these rules. */
    @Test
    void whoeverIsAloneIsTheFirst() {
        for (String name : List.of("a-1-x-0000000003", "a-1-s-0000000003")) {
            assertThat(queue(name).of(name)).isEqualTo(QueuePosition.FIRST);
        }
        assertThat(queue("a-1-p2c1-0000000003").of("a-1-p2c1-0000000003")).isNotEqualTo(QueuePosition.FIRST);
        assertThat(queue("a-1-y-0000000003").of("a-1-y-0000000003")).isNotEqualTo(QueuePosition.FIRST);
    }

    @Test
    void readersHoldTogetherUntilAWriterAsks() {
        RequestQueue queue = queue("a-1-s-0000000001", "b-2-s-0000000002", "c-3-x-0000000003", "d-4-s-0000000004");

        assertThat(queue.holders()).hasSize(2);
        assertThat(queue.of("d-4-s-0000000004").behind()).contains("c-3-x-0000000003");
        assertThat(queue.of("d-4-s-0000000004").then()).isEqualTo(QueuePosition.Knowledge.ALL_LEFT);
        assertThat(queue.of("c-3-x-0000000003").behind()).contains("b-2-s-0000000002");
        assertThat(queue.of("c-3-x-0000000003").then()).isEqualTo(QueuePosition.Knowledge.NONE);
    }

    @Test
    void permitsGoToTheFirstThatFitsAndNobodyPassesItWhoStatesNoMore() {
        RequestQueue queue = queue("a-1-p2c3-0000000001", "b-2-p2c3-0000000002", "c-3-p1c3-0000000003");

        assertThat(queue.holders()).hasSize(1);
        assertThat(queue.permitsOut()).isEqualTo(2);
        assertThat(queue.of("b-2-p2c3-0000000002").kind()).isEqualTo(QueuePosition.Kind.FIRST);
        assertThat(queue.of("c-3-p1c3-0000000003").behind()).contains("b-2-p2c3-0000000002");
        assertThat(queue.promotion("c-3-p1c3-0000000003")).isEmpty();
    }

    @Test
    void whoStatesMoreThanAllThatAreRefusedPassesThem() {
        RequestQueue queue =
                queue("a-1-p2c3-0000000001", "b-2-p2c3-0000000002", "c-3-p1c9-0000000003", "d-4-p9c9-0000000004");

        assertThat(queue.of("c-3-p1c9-0000000003").kind()).isEqualTo(QueuePosition.Kind.PASSES);
        assertThat(queue.promotion("c-3-p1c9-0000000003"))
                .contains(new RequestQueue.Promotion(2, List.of("b-2-p2c3-0000000002", "a-1-p2c3-0000000001")));
        assertThat(queue.of("d-4-p9c9-0000000004").behind()).contains("c-3-p1c9-0000000003");
        assertThat(queue.promotion("b-2-p2c3-0000000002")).isEmpty();
        assertThat(queue.promotion("a-1-p2c3-0000000001"))
                .as("who is granted in its order can be promoted without a condition")
                .contains(new RequestQueue.Promotion(1, List.of()));
    }

    @Test
    void whoWasPromotedCountsForThoseThatWaitedThenAndForNobodyBeforeThem() {
        RequestQueue queue = queue("a-1-p1c1-0000000001", "b-2-p1c2-0000000002", "c-3-p2c3g2-0000000007");

        assertThat(holders(queue)).containsExactly("a-1-p1c1-0000000001", "c-3-p2c3g2-0000000007");
        assertThat(queue.permitsOut()).isEqualTo(3);
        assertThat(queue("b-2-p1c2-0000000002", "c-3-p2c3g2-0000000007").waiters())
                .as("the permits of who passed are out still")
                .hasSize(1);
        assertThat(queue("b-2-p1c2-0000000002").holders()).hasSize(1);
    }

    @Test
    void eachIsBoundByItsOwnViewOfTheCapacity() {
        assertThat(queue("a-1-p1c1-0000000001", "b-2-p1c2-0000000002", "c-3-p1c2-0000000003")
                        .holders())
                .hasSize(2);
    }

    @Test
    void aWriterThatHeldHasNobodyBeforeIt() {
        RequestQueue queue = queue("a-1-x-0000000001", "b-2-x-0000000002", "c-3-x-0000000003");

        assertThat(queue.of("b-2-x-0000000002").then()).isEqualTo(QueuePosition.Knowledge.ALL_LEFT);
        assertThat(queue.of("c-3-x-0000000003").behind()).contains("b-2-x-0000000002");
        assertThat(queue.of("c-3-x-0000000003").then()).isEqualTo(QueuePosition.Knowledge.ALL_LEFT_IF_IT_HELD);
    }

    @Test
    void whatIsNotOursIsPassedOver() {
        assertThat(queue("lock-0000000001", "", "a-1-z-0000000001", "a-1-p-0000000001", "a-1-x-none")
                        .isEmpty())
                .isTrue();
        assertThat(queue().of("a-1-x-0000000001")).isEqualTo(QueuePosition.ABSENT);
    }

    @Test
    void aNameSaysAllThatDecides() {
        NodeName name = NodeName.parse("1f-a-p3c12-0000000042").orElseThrow();

        assertThat(name.name()).isEqualTo("1f-a-p3c12-0000000042");
        assertThat(name.mode()).isEqualTo(LockMode.PERMITS);
        assertThat(name.permits()).isEqualTo(3);
        assertThat(name.capacity()).isEqualTo(12);
        assertThat(name.number()).isEqualTo(42);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "a/b", "a:b", ".", "..", "a/../b", "zookeeper", "ü", "😀", "a%2Fb", "A", "\uffff", " "})
    void namesAreEscapedReversibly(String name) {
        for (LockKey key : List.of(LockKey.lock(LockName.of(name)), LockKey.semaphore(LockName.of(name)))) {
            String element = Paths.element(key);

            assertThat(element).matches("[ls]:[a-zA-Z0-9_.:%-]+");
            assertThat(Paths.key(element)).contains(key);
            assertThat(Paths.isBucket(Paths.bucketOf(element))).isTrue();
        }
    }

    @Test
    void dataOutliveTheirText() {
        NodeData data = NodeData.of(new Owner("billing 7\n", Map.of("job", "nightly – ü", "a=b", "")));

        assertThat(NodeData.parse(data.bytes())).isEqualTo(data);
        assertThat(NodeData.parse(null).owner().client()).isEqualTo("?");
    }

    @Test
    void whatWasBrokenOutlivesItsText() {
        BrokenGrants broken =
                new BrokenGrants(Map.of(), 3).with(Long.MAX_VALUE, "too\nlong").with(7, "");

        assertThat(BrokenGrants.parse(broken.bytes(), 3)).isEqualTo(broken);
        assertThat(BrokenGrants.parse(broken.without(Set.of(7L)).bytes(), 4).reasons())
                .isEqualTo(Map.of(Long.MAX_VALUE, "too\nlong"));
        assertThat(BrokenGrants.parse(null, 0).reasons()).isEmpty();
        assertThat(BrokenGrants.parse("broken\nbroken x y\nbroken 99999999999999999999 z".getBytes(UTF_8), 0)
                        .reasons())
                .isEmpty();
    }
}
