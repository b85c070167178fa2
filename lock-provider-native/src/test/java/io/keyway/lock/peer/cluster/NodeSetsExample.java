// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.NodeRule;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The program over nodes of docs/transactions.md, between the lines that say so. */
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
}
