// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.kit.NodeLocks.State;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which nodes are asked, in whatever order they answer, fall silent and come back. */
class NodeLocksTest {
    private static final LockName NAME = LockName.of("x");
    private static final Owner OWNER = new Owner("client", Map.of());

    /** Nodes that do what the test says. */
    private static final class Nodes implements NodeLocks.Parts {
        final Map<LockName, State> states = new HashMap<>();
        final Set<LockName> spare = new HashSet<>();
        final List<LockName> away = new ArrayList<>();
        final List<Throwable> failures = new ArrayList<>();

        @Override
        public State state(LockName part) {
            return states.getOrDefault(part, State.NONE);
        }

        @Override
        public void askPart(LockName part, LockMode mode, boolean queue) {
            assertThat(state(part)).isEqualTo(State.NONE);
            states.put(part, State.WAITS);
        }

        @Override
        public void takeBack(LockName part) {
            states.remove(part);
            spare.remove(part);
        }

        @Override
        public void spare(LockName part, boolean isSpare) {
            if (isSpare) {
                spare.add(part);
            } else {
                spare.remove(part);
            }
        }

        @Override
        public void askSpare(LockName part, LockMode mode) {
            askPart(part, mode, true);
        }

        @Override
        public void failed(Wishes.GivenUp lock, Throwable why) {
            failures.add(why);
        }

        @Override
        public void tooFew(Wishes.GivenUp lock, NodeSet set, List<LockName> silent) {
            away.addAll(silent);
        }
    }

    private final Nodes nodes = new Nodes();
    private final NodeLocks locks = new NodeLocks(nodes);

    private static LockName part(String node) {
        return NodeParts.part(NAME, node + ":1");
    }

    private static NodeSet set(NodeRule rule, String... names) {
        return NodeSet.of(rule, List.of(names).stream().map(each -> each + ":1").toList());
    }

    @Test
    void nodesAreAskedInTheirOrderEachWhenTheOneBeforeHasGranted() {
        locks.add(NAME, LockMode.EXCLUSIVE, set(NodeRule.MAJORITY, "c", "a", "b"), OWNER, true, 1);
        locks.advance(false);
        assertThat(nodes.states).containsOnlyKeys(part("a"));
        nodes.states.put(part("a"), State.HELD);
        locks.advance(false);
        assertThat(nodes.states).containsOnlyKeys(part("a"), part("b"));
        assertThat(locks.lacks()).isTrue();
        nodes.states.put(part("b"), State.HELD);
        locks.advance(false);
        assertThat(nodes.states).containsOnlyKeys(part("a"), part("b"));
        assertThat(locks.lacks()).isFalse();
    }

    @Test
    void aSilentNodeIsPassedOverAndLetGoWhenItIsNotNeeded() {
        locks.add(NAME, LockMode.EXCLUSIVE, set(NodeRule.MAJORITY, "a", "b", "c"), OWNER, true, 1);
        locks.advance(false);
        nodes.states.put(part("a"), State.SILENT);
        locks.advance(false);
        assertThat(nodes.states).containsOnlyKeys(part("a"), part("b"));
        assertThat(nodes.spare).containsExactly(part("a"));
        nodes.states.put(part("a"), State.WAITS); // it is back: of two waits the first in order stays
        locks.advance(false);
        assertThat(nodes.states).containsOnlyKeys(part("a"));
        assertThat(nodes.spare).isEmpty();
        nodes.states.put(part("a"), State.AWAY);
        locks.advance(false);
        nodes.states.put(part("b"), State.HELD);
        locks.advance(false);
        nodes.states.put(part("c"), State.HELD);
        locks.advance(false);
        assertThat(nodes.states).containsOnlyKeys(part("b"), part("c"));
    }

    /** Only when the user has it: before that who waits for k of n nodes waits at one of them. */
    @Test
    void theOtherNodesAreAskedOnceTheLockIsHeld() {
        locks.add(NAME, LockMode.EXCLUSIVE, set(NodeRule.MAJORITY, "a", "b", "c", "d"), OWNER, true, 1);
        locks.advance(false);
        for (String node : List.of("a", "b", "c")) {
            locks.askSpares();
            nodes.states.put(part(node), State.HELD);
            locks.advance(false);
        }
        locks.askSpares();
        assertThat(nodes.states).as("nobody was told").containsOnlyKeys(part("a"), part("b"), part("c"));
        locks.tell();
        locks.askSpares();
        locks.spare();
        assertThat(nodes.states).containsEntry(part("d"), State.WAITS);
        assertThat(nodes.spare).containsExactly(part("d"));
        assertThat(locks.lacks()).isFalse();

        nodes.states.put(part("d"), State.HELD);
        nodes.states.remove(part("a"));
        assertThat(locks.isHeld(NAME)).isTrue();
        assertThat(locks.broken()).isNull();
        locks.askSpares();
        assertThat(nodes.states).as("what was lost").containsEntry(part("a"), State.WAITS);
    }

    /** What came when the lock was lost does not make it held again: somebody may have had it in between. */
    @Test
    void aLockThatWasSeenAtTooFewNodesIsHeldNoMore() {
        locks.add(NAME, LockMode.EXCLUSIVE, set(NodeRule.MAJORITY, "a", "b", "c"), OWNER, true, 1);
        locks.advance(false);
        nodes.states.put(part("a"), State.HELD);
        nodes.states.put(part("b"), State.HELD);
        locks.tell();
        locks.askSpares();
        nodes.states.put(part("a"), State.WAITS);
        locks.look();
        nodes.states.put(part("c"), State.HELD);
        assertThat(locks.isHeld(NAME)).isFalse();
        assertThat(locks.broken()).isEqualTo(NAME);
        nodes.states.remove(part("a"));
        locks.askSpares();
        assertThat(nodes.states).as("nothing is asked for what is lost").doesNotContainKey(part("a"));
    }

    @Test
    void allAndAnyNeedNoOtherNodes() {
        locks.add(NAME, LockMode.SHARED, set(NodeRule.ANY, "a", "b", "c"), OWNER, true, 1);
        locks.advance(false);
        nodes.states.put(part("a"), State.HELD);
        locks.advance(false);
        locks.tell();
        locks.askSpares();
        assertThat(nodes.states).containsOnlyKeys(part("a"));
    }

    /** A circle through the one wait is none while another node may grant. */
    @Test
    void whoWaitsInACircleAsksTheNodesThatAreLeft() {
        locks.add(NAME, LockMode.EXCLUSIVE, set(NodeRule.MAJORITY, "a", "b", "c", "d", "e"), OWNER, true, 1);
        locks.advance(false);
        for (String node : List.of("a", "b")) {
            assertThat(locks.canPassOver(part(node))).isTrue();
            locks.passOver(part(node));
            assertThat(locks.canPassOver(part(node)))
                    .as("by a second circle, too")
                    .isTrue();
            locks.advance(false);
        }
        assertThat(nodes.states).containsOnlyKeys(part("a"), part("b"), part("c"));
        assertThat(nodes.spare).containsExactlyInAnyOrder(part("a"), part("b"));
        assertThat(locks.canPassOver(part("c"))).as("three of five are needed").isFalse();
        nodes.states.put(part("c"), State.HELD);
        locks.advance(false);
        assertThat(nodes.states).containsKey(part("d"));
        assertThat(locks.canPassOver(part("d"))).isFalse();

        nodes.states.put(part("d"), State.SILENT);
        locks.advance(false);
        assertThat(nodes.spare).as("one that answers is waited for").containsExactlyInAnyOrder(part("b"), part("d"));
        nodes.states.put(part("b"), State.HELD);
        nodes.states.put(part("a"), State.HELD);
        locks.advance(false);
        assertThat(nodes.states).containsOnlyKeys(part("a"), part("b"), part("c"));
    }

    @Test
    void noNodeIsPassedOverWhereAllAreNeeded() {
        locks.add(NAME, LockMode.EXCLUSIVE, set(NodeRule.ALL, "a", "b", "c"), OWNER, true, 1);
        locks.advance(false);
        assertThat(locks.canPassOver(part("a"))).isFalse();
        assertThat(locks.canPassOver(LockName.of("another"))).isFalse();
    }

    @Test
    void allWaitForEachNode() {
        locks.add(NAME, LockMode.EXCLUSIVE, set(NodeRule.ALL, "a", "b"), OWNER, true, 1);
        locks.advance(true);
        nodes.states.put(part("a"), State.AWAY);
        locks.advance(true);
        assertThat(nodes.states).containsOnlyKeys(part("a"));
        nodes.states.put(part("a"), State.HELD);
        locks.advance(true);
        nodes.states.put(part("b"), State.AWAY);
        locks.advance(true);
        assertThat(nodes.states).as("holds none while too few answer").containsOnlyKeys(part("b"));
        locks.advance(false);
        assertThat(nodes.states).isEmpty();
        assertThat(nodes.away).containsExactly(part("b"));
        assertThat(locks.isEmpty()).isTrue();
    }

    @Test
    void exclusiveAtAnyIsRefusedButForOneNode() {
        LockRequest plain = new LockRequest(NAME, LockMode.EXCLUSIVE);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> plain.at(set(NodeRule.ANY, "a", "b")))
                .withMessageContaining("split net");
        assertThat(plain.at(set(NodeRule.ANY, "a")).nodes()).isPresent();
        assertThat(new LockRequest(NAME, LockMode.SHARED)
                        .at(set(NodeRule.ANY, "a", "b"))
                        .nodes())
                .isPresent();
        for (List<String> wrong : List.of(List.<String>of(), List.of("a:1", "a:1"), List.of("a"), List.of("a/b:1"))) {
            assertThatIllegalArgumentException().isThrownBy(() -> NodeSet.of(NodeRule.ALL, wrong));
        }
    }

    /** A member takes no more metadata than a lock's options allow: nobody may send it more. */
    @Test
    void aListThatIsTooLongBesideItsOwnersMetadataIsRefused() {
        NodeSet set = set(NodeRule.ANY, "a", "b");
        Owner said = NodeParts.saying(new Owner("client", Map.of("job", "7")), set);
        assertThat(said.metadata()).containsEntry("job", "7").containsEntry(NodeParts.SET, "ALL of a:1,b:1");
        Owner full = new Owner("client", Map.of("job", "x".repeat(1000)));
        assertThatIllegalArgumentException().isThrownBy(() -> NodeParts.saying(full, set));
    }

    /** What the class says is invariant, over random answers of five nodes. */
    @Test
    void whateverNodesDoThereIsOneWaitThatIsNeeded() {
        int held = 0;
        int passedOver = 0;
        for (int seed = 0; seed < 500; seed++) {
            Random random = new Random(seed);
            Nodes some = new Nodes();
            NodeLocks of = new NodeLocks(some);
            NodeRule rule =
                    List.of(NodeRule.ALL, NodeRule.ANY, NodeRule.MAJORITY).get(seed % 3);
            NodeSet set = set(rule, "a", "b", "c", "d", "e");
            of.add(NAME, LockMode.SHARED, set, OWNER, true, 1);
            for (int step = 0; step < 60; step++) {
                of.advance(true);
                long had = some.states.values().stream()
                        .filter(each -> each == State.HELD)
                        .count();
                long waits = some.states.values().stream()
                        .filter(each -> each == State.WAITS)
                        .count();
                long away = some.states.values().stream()
                        .filter(each -> each == State.AWAY)
                        .count();
                List<LockName> needed = some.states.entrySet().stream()
                        .filter(each -> each.getValue() == State.WAITS && !some.spare.contains(each.getKey()))
                        .map(Map.Entry::getKey)
                        .toList();
                assertThat(needed).hasSize(waits == 0 ? 0 : 1);
                if (waits > 0 && of.canPassOver(needed.get(0)) && random.nextInt(3) == 0) {
                    of.passOver(needed.get(0));
                    passedOver++;
                    continue;
                }
                if (had >= set.needed()) {
                    assertThat(some.states).hasSize((int) had);
                    held++;
                    break;
                }
                assertThat(had == 0 || away <= 5 - set.needed()).isTrue();
                assertThat(some.states).isNotEmpty();
                List<LockName> asked = new ArrayList<>(some.states.keySet());
                asked.sort(null);
                LockName node = asked.get(random.nextInt(asked.size()));
                State[] next = {State.WAITS, State.SILENT, State.AWAY, State.HELD, State.HELD};
                some.states.put(node, next[random.nextInt(next.length)]);
            }
        }
        assertThat(held).isGreaterThan(300);
        assertThat(passedOver).isGreaterThan(100);
    }

    private void refuses(String node, @Nullable Throwable why) {
        nodes.takeBack(part(node));
        assertThat(locks.refused(part(node), why)).isTrue();
    }

    private void isTriedAndRefusedByTheFirst(@Nullable Throwable why) {
        locks.add(NAME, LockMode.EXCLUSIVE, set(NodeRule.MAJORITY, "a", "b", "c"), OWNER, false, 1);
        locks.advance(true);
        refuses("a", why);
        locks.advance(true);
    }

    @Test
    void whatIsNotKnownOfOneNodeIsSaidOnlyWhereTooFewGrant() {
        IllegalStateException why = new IllegalStateException("it opens in 3 s");
        isTriedAndRefusedByTheFirst(why);
        nodes.states.put(part("b"), State.HELD);
        locks.advance(true);
        assertThat(nodes.failures).isEmpty();
        refuses("c", null);
        locks.advance(true);
        assertThat(nodes.failures).containsExactly(why);
        assertThat(locks.has(NAME)).isFalse();
        assertThat(nodes.states).isEmpty();
    }

    /** One node is held by others, and one is dead: nobody can say whether a majority is. */
    @ParameterizedTest
    @EnumSource(names = {"NONE", "HELD"})
    void whoDoesNotWaitEndsWhereTheNodesThatAnswerAreTooFew(State third) {
        isTriedAndRefusedByTheFirst(null);
        nodes.states.put(part("b"), State.SILENT);
        locks.advance(true);
        nodes.states.put(part("c"), third);
        nodes.states.put(part("b"), State.AWAY);
        locks.advance(true);
        assertThat(nodes.away).containsExactly(part("b"));
        assertThat(locks.has(NAME)).isFalse();
        assertThat(nodes.states).doesNotContainValue(State.HELD);
    }

    @Test
    void whoDoesNotWaitAsksAnotherNodeWhereOthersAreBeforeIt() {
        isTriedAndRefusedByTheFirst(null);
        assertThat(nodes.states).containsExactly(Map.entry(part("b"), State.WAITS));

        nodes.states.put(part("b"), State.HELD);
        locks.advance(true);
        assertThat(nodes.states).containsOnlyKeys(part("b"), part("c"));
        nodes.states.put(part("c"), State.HELD);
        locks.advance(true);
        assertThat(locks.lacks()).isFalse();
    }

    @Test
    void whoDoesNotWaitGivesUpWhereOthersAreBeforeItAtTooManyNodes() {
        locks.add(NAME, LockMode.EXCLUSIVE, set(NodeRule.MAJORITY, "a", "b", "c"), OWNER, false, 1);
        locks.advance(true);
        nodes.states.put(part("a"), State.HELD);
        locks.advance(true);
        refuses("b", null);
        locks.advance(true);
        assertThat(nodes.states).containsOnlyKeys(part("a"), part("c"));

        refuses("c", null);
        locks.advance(true);
        assertThat(locks.has(NAME)).isFalse();
        assertThat(nodes.states).isEmpty();
        assertThat(nodes.away).isEmpty();
    }
}
