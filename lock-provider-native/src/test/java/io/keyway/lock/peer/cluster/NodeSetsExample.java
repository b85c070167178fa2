// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.Election;
import io.keyway.lock.FenceGuard;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The programs over nodes of docs/transactions.md and docs/elections.md, between the lines that say so. */
final class NodeSetsExample {
    private NodeSetsExample() {}

    // over nodes begins
    /** Closes the month, also while one of three members is away; false if somebody has come in between. */
    static boolean close(LockClient client, List<String> members, Ledger ledger) throws InterruptedException {
        try (LockTransaction transaction = client.transaction()) {
            transaction.lock("ledger/month", LockMode.EXCLUSIVE, members, NodeRule.MAJORITY);
            transaction.ensureHeld();
            return ledger.close(transaction.tokens("ledger/month"));
        }
    }

    /** Refuses whoever comes late: any two holders have a node in common, and the later one its higher token. */
    static final class Ledger {
        private final Map<String, Long> highest = new HashMap<>();

        synchronized boolean close(Map<String, Long> tokens) {
            for (Map.Entry<String, Long> each : tokens.entrySet()) {
                if (each.getValue() < highest.getOrDefault(each.getKey(), 0L)) {
                    return false;
                }
            }
            highest.putAll(tokens);
            return true;
        }
    }
    // over nodes ends

    // one lease begins
    /** Closes the month under one token, also while one of three members is away. */
    static boolean closeByToken(LockClient client, List<String> members, FenceGuard guard) throws InterruptedException {
        NodeSet majority = NodeSet.of(NodeRule.MAJORITY, members);
        try (Lease lease = client.lock("ledger/month", majority).acquire()) {
            return guard.admits(lease);
        }
    }
    // one lease ends

    // by a majority begins
    /** Runs the scheduler wherever it leads, also while one of three members is away, or cut off with its clients. */
    static void serve(LockClient locks, List<String> members, Runnable scheduler) throws InterruptedException {
        Election election = locks.election("billing/scheduler").at(NodeSet.of(NodeRule.MAJORITY, members));
        election.lead(lease -> {
            scheduler.run();
            return null;
        });
    }
    // by a majority ends
}
