// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Rules 2101 to 2107: locks over the members that the URL of the subject names. */
final class NodeSetChecks {
    private static final String COUNT = "Are the nodes counted that are named, and each asked by its own authority?";

    private static List<String> nodes(LockClient client) {
        return client.url().hosts().stream().map(LockUrl.Host::toString).toList();
    }

    private static LockRequest request(LockClient client, String name, LockMode mode, NodeRule rule) {
        return new LockRequest(LockName.of(name), mode).at(NodeSet.of(rule, nodes(client)));
    }

    /** A transaction that has asked for that. */
    private static LockTransaction asks(CheckContext t, LockClient client, String name, LockMode mode, NodeRule rule) {
        LockTransaction transaction = TransactionChecks.begin(t, client);
        transaction.lockAsync(List.of(request(client, name, mode, rule)));
        return transaction;
    }

    private static boolean isGranted(CheckContext t, LockTransaction transaction, Duration limit) throws Exception {
        return t.start("a wait for a lock over nodes", () -> transaction.awaitAll(limit))
                .get();
    }

    @Check(rules = "LK-2101", needs = Feature.NODE_SETS)
    @Hint(COUNT)
    void twoWritersOverNodesExcludeEachOther(CheckContext t) throws Exception {
        for (NodeRule rule : List.of(NodeRule.MAJORITY, NodeRule.ALL)) {
            String name = t.name(rule.name());
            try (LockTransaction one = asks(t, t.client("one"), name, LockMode.EXCLUSIVE, rule);
                    LockTransaction other = TransactionChecks.begin(t, t.client("other"))) {
                t.expect(isGranted(t, one, t.patience()), "a lock over nodes that nobody has was not granted");
                other.lockAsync(List.of(request(t.client("other"), name, LockMode.EXCLUSIVE, rule)));
                t.expect(
                        !isGranted(t, other, t.ttl(1, 2)),
                        "two have a lock over nodes EXCLUSIVE at a time, by " + rule);
                one.close();
                t.expect(isGranted(t, other, t.patience()), "a lock over nodes was given back, and is not granted");
            }
        }
    }

    @Check(rules = "LK-2101", needs = Feature.NODE_SETS)
    @Hint("Do a reader at any node and a writer at all of them state the same set?")
    void aReaderAtAnyNodeAndAWriterAtAllExcludeEachOther(CheckContext t) throws Exception {
        try (LockTransaction reader = asks(t, t.client("one"), t.name(), LockMode.SHARED, NodeRule.ANY)) {
            t.expect(isGranted(t, reader, t.patience()), "a reader at any node was not granted what nobody has");
            try (LockTransaction second = asks(t, t.client("other"), t.name(), LockMode.SHARED, NodeRule.ANY)) {
                t.expect(isGranted(t, second, t.patience()), "a reader at any node keeps out another one");
            }
            try (LockTransaction writer = asks(t, t.client("other"), t.name(), LockMode.EXCLUSIVE, NodeRule.ALL)) {
                t.expect(!isGranted(t, writer, t.ttl(1, 2)), "a writer at all nodes was admitted beside a reader");
                reader.close();
                t.expect(isGranted(t, writer, t.patience()), "the reader has left, and the writer still waits");
            }
        }
    }

    @Check(rules = "LK-2102", needs = Feature.NODE_SETS)
    @Hint("A lock at one of several nodes, or at none, excludes nobody.")
    void whatWouldExcludeNobodyIsRefused(CheckContext t) throws Exception {
        LockClient client = t.client("one");
        if (nodes(client).size() > 1) {
            t.expectThrows(
                    "EXCLUSIVE at any of several nodes",
                    IllegalArgumentException.class,
                    () -> request(client, t.name(), LockMode.EXCLUSIVE, NodeRule.ANY));
        }
        t.expectThrows(
                "a lock over no node", IllegalArgumentException.class, () -> NodeSet.of(NodeRule.ALL, List.of()));
        IllegalArgumentException alive = t.expectThrows(
                "a rule of the nodes that are alive",
                IllegalArgumentException.class,
                () -> NodeRule.of("majority_alive"));
        t.expect(String.valueOf(alive.getMessage()).contains("split"), "the refusal does not say why");
    }

    @Check(rules = "LK-2103", needs = Feature.NODE_SETS)
    @Hint("Does a node remember with which list and rule it was asked, for as long as somebody has its grant?")
    void anotherListOrRuleIsRefused(CheckContext t) throws Exception {
        LockClient client = t.client("other");
        try (LockTransaction holder = asks(t, t.client("one"), t.name(), LockMode.EXCLUSIVE, NodeRule.ALL)) {
            t.expect(isGranted(t, holder, t.patience()), "a lock over nodes that nobody has was not granted");
            refused(t, client, request(client, t.name(), LockMode.EXCLUSIVE, NodeRule.MAJORITY), "another rule");
            NodeSet strangers = NodeSet.of(NodeRule.ALL, List.of("nobody.invalid:1"));
            refused(t, client, LockRequest.exclusive(t.name("strange")).at(strangers), "a node that is no member");
        }
    }

    private static void refused(CheckContext t, LockClient client, LockRequest request, String what) throws Exception {
        try (LockTransaction transaction = TransactionChecks.begin(t, client)) {
            transaction.lockAsync(List.of(request));
            LockUnavailableException e = t.expectThrows(
                    "a request with " + what, LockUnavailableException.class, () -> transaction.awaitAll(t.patience()));
            t.expect(!e.retryable(), "the refusal of " + what + " says that it may succeed later");
        }
    }

    @Check(rules = "LK-2104", needs = Feature.NODE_SETS)
    @Hint("Is each node let go: also those that are not needed any more, and those that grant late?")
    void nothingIsLeftAtANode(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient other = t.client("other");
        try (LockTransaction holder = asks(t, one, t.name(), LockMode.EXCLUSIVE, NodeRule.ALL)) {
            t.expect(isGranted(t, holder, t.patience()), "a lock over nodes that nobody has was not granted");
            try (LockTransaction waiter = asks(t, other, t.name(), LockMode.EXCLUSIVE, NodeRule.ALL)) {
                t.expect(!isGranted(t, waiter, t.ttl(1, 4)), "two have a lock over nodes EXCLUSIVE at a time");
                t.expect(waiter.cancel(t.name()), "the wait for a lock over nodes was not there to be cancelled");
            }
            holder.unlock(t.name());
            holder.lockAsync(List.of(request(one, t.name(), LockMode.EXCLUSIVE, NodeRule.ALL)));
            t.expect(isGranted(t, holder, t.patience()), "a lock over nodes was given back, and is not free at all");
        }
        try (LockTransaction next = asks(t, other, t.name(), LockMode.EXCLUSIVE, NodeRule.ALL)) {
            t.expect(
                    isGranted(t, next, t.patience()),
                    "a transaction was closed, and its lock is not free at all nodes");
        }
    }

    @Check(
            rules = "LK-2105",
            needs = {Feature.NODE_SETS, Feature.FENCING})
    @Hint("Each node's token is that of its own grant.")
    void theTokensOfNodesRise(CheckContext t) throws Exception {
        Map<String, Long> before = Map.of();
        for (int i = 0; i < 4; i++) {
            LockClient client = t.client(i % 2 == 0 ? "one" : "other");
            try (LockTransaction holder = asks(t, client, t.name(), LockMode.EXCLUSIVE, NodeRule.MAJORITY)) {
                t.expect(isGranted(t, holder, t.patience()), "a lock over nodes that nobody has was not granted");
                Map<String, Long> tokens = holder.tokens(t.name());
                int needed = NodeRule.MAJORITY.needed(nodes(client).size());
                t.expect(tokens.size() >= needed, "tokens of " + tokens.size() + " nodes are no majority's");
                for (Map.Entry<String, Long> each : before.entrySet()) {
                    long now = tokens.getOrDefault(each.getKey(), Long.MAX_VALUE);
                    t.expect(now > each.getValue(), "a later token of a node is not higher");
                }
                before = tokens;
            }
        }
    }

    @Check(
            rules = "LK-2106",
            needs = {Feature.NODE_SETS, Feature.FENCING})
    @Hint("Do candidates of an election at nodes ask for its lock over these nodes, and raise their tokens?")
    void anElectionAtNodesIsOverTheirLock(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        NodeSet majority = NodeSet.of(NodeRule.MAJORITY, nodes(client));
        Candidacy first = ElectionChecks.election(t, client).at(majority).stand();
        ElectionChecks.leads(t, "the only candidate of an election at nodes", first);
        Candidacy second =
                ElectionChecks.election(t, t.client("second")).at(majority).stand();
        t.pass(t.ttl(1, 4));
        t.expect(first.isLeading() && !second.isLeading(), "a second candidate leads an election at nodes");
        long token = ElectionChecks.token(t, first);
        try (LockTransaction other = asks(t, t.client("other"), t.name(), LockMode.EXCLUSIVE, NodeRule.MAJORITY)) {
            t.expect(!isGranted(t, other, t.ttl(1, 4)), "the lock of an election at nodes was granted beside a leader");
            ElectionChecks.ends(first, second);
            t.expect(isGranted(t, other, t.patience()), "all candidates are closed, and their lock is not free");
        }
        Candidacy third =
                ElectionChecks.election(t, t.client("second")).at(majority).stand();
        ElectionChecks.leads(t, "a candidate of an election at nodes that nobody leads", third);
        t.expect(
                ElectionChecks.token(t, third) > token,
                "the token of the next leader, " + ElectionChecks.token(t, third) + ", is not higher than " + token);
        third.close();
    }

    @Check(
            rules = "LK-2107",
            needs = {Feature.NODE_SETS, Feature.LIST})
    @Hint("Are the nodes that were not needed asked once the lock is held?")
    void whatAMajorityHoldsIsAskedForAtEachNode(CheckContext t) throws Exception {
        LockClient observer = t.client("other");
        LockTransaction transaction = asks(t, t.client("one"), t.name(), LockMode.EXCLUSIVE, NodeRule.MAJORITY);
        t.expect(isGranted(t, transaction, t.patience()), "a lock over nodes that nobody has was not granted");
        for (String node : nodes(observer)) {
            LockKey part = LockKey.lock(NodeParts.part(LockName.of(t.name()), node));
            t.until(
                    "a node that is there has granted its part of a lock that a majority holds",
                    () -> observer.admin()
                            .show(part)
                            .filter(status -> !status.holders().isEmpty())
                            .isPresent());
        }
        transaction.ensureHeld();
        transaction.close();
        try (LockTransaction next = asks(t, observer, t.name(), LockMode.EXCLUSIVE, NodeRule.MAJORITY)) {
            t.expect(isGranted(t, next, t.patience()), "a lock that was given back is not free");
        }
    }
}
