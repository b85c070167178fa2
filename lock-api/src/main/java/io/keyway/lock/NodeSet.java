// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;

/**
 * The members of a cluster at which one lock is granted, and how many of them have to grant it. Both belong to what the
 * lock is: all who use its name are to state the same list, and a member that has the lock for somebody with another
 * one refuses. Needs {@link Feature#NODE_SETS}.
 *
 * @param nodes the ids of the members, as the member list of the cluster has them ({@code a:7400}); in order, each
 *     once, 1 to {@value #MAX_NODES}
 * @param rule how many of them
 */
public record NodeSet(List<String> nodes, NodeRule rule) {
    /** The most nodes of a set. */
    public static final int MAX_NODES = 16;

    /**
     * Puts the nodes in order.
     *
     * @param nodes see the record; the order does not matter
     * @param rule see the record
     * @throws IllegalArgumentException if there is none, one is named twice, or a text cannot be a member's id
     */
    public NodeSet {
        Objects.requireNonNull(rule, "rule");
        TreeSet<String> sorted = new TreeSet<>(nodes);
        if (sorted.isEmpty()) {
            throw new IllegalArgumentException("a lock over no node would be granted by nobody: name at least one");
        }
        if (sorted.size() != nodes.size() || sorted.size() > MAX_NODES) {
            throw new IllegalArgumentException("a set has 1 to " + MAX_NODES + " nodes, each once, not " + nodes);
        }
        sorted.forEach(NodeSet::check);
        nodes = List.copyOf(sorted);
    }

    /**
     * {@return the set of these nodes}
     *
     * @param rule how many of them
     * @param nodes as of the record, in any order
     * @throws IllegalArgumentException as of the record
     */
    public static NodeSet of(NodeRule rule, Collection<String> nodes) {
        return new NodeSet(List.copyOf(nodes), rule);
    }

    private static void check(String node) {
        boolean plain = node.lastIndexOf(':') > 0
                && node.chars().allMatch(each -> each > ' ' && each < 0x7f && each != '/' && each != ',');
        if (!plain) {
            throw new IllegalArgumentException(
                    NameSyntax.quoted(node) + " is no member of a cluster: write host:port, as in a:7400");
        }
    }

    /** {@return how many nodes have to grant} */
    public int needed() {
        return rule.needed(nodes.size());
    }

    /** Returns the rule and the list: {@code MAJORITY of a:7400,b:7400,c:7400}. */
    @Override
    public String toString() {
        return rule + " of " + String.join(",", nodes);
    }
}
