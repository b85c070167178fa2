// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Locale;

/**
 * At how many nodes of a {@link NodeSet} a lock has to be granted. All count the nodes that are named, whether they
 * answer or not: a rule that counts those that are alive is met on both sides of a split net, each of which takes the
 * other for dead.
 */
public enum NodeRule {
    /** At each of them. Two such locks exclude each other at every node; one node that is away keeps all waiting. */
    ALL,
    /**
     * At one of them, for readers alone ({@link LockMode#SHARED}): such a lock keeps out writers that need
     * {@link #ALL}, which it meets wherever it is granted. An exclusive one is refused, since two of them could be
     * granted at two nodes.
     */
    ANY,
    /** At more than half of them. Any two majorities of one list have a node in common, which grants to one of them. */
    MAJORITY;

    /**
     * {@return how many grants are needed}
     *
     * @param nodes how many nodes are named, at least 1
     */
    public int needed(int nodes) {
        return switch (this) {
            case ALL -> nodes;
            case ANY -> 1;
            case MAJORITY -> nodes / 2 + 1;
        };
    }

    /**
     * {@return the rule of that name, as a configuration says it}
     *
     * @param label in lower or upper case
     * @throws IllegalArgumentException if there is none, or if it is one that counts the nodes that are alive; the
     *     message says why that one is refused
     */
    public static NodeRule of(String label) {
        String name = label.toUpperCase(Locale.ROOT).replace('-', '_');
        for (NodeRule each : values()) {
            if (each.name().equals(name)) {
                return each;
            }
        }
        if (name.equals("ALL_ALIVE") || name.equals("MAJORITY_ALIVE")) {
            throw new IllegalArgumentException(label + " is refused: it counts the nodes that answer this client, so on"
                    + " each side of a split net somebody would be granted the lock, and of nodes that are all dead it"
                    + " asks nothing. Use MAJORITY, which counts the nodes that are named");
        }
        throw new IllegalArgumentException(
                "\"" + label + "\" is no rule of nodes: they are ALL, ANY (for readers) and MAJORITY");
    }
}
