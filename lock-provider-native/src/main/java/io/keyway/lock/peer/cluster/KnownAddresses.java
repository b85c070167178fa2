// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Where a client looks for members: the addresses of its URL, and the members that it was told of last, since those of
 * the URL may all be gone.
 */
final class KnownAddresses {
    private final List<NodeId> given;
    private volatile List<NodeId> learned = List.of();

    /** @param given of the URL; at least one */
    KnownAddresses(List<NodeId> given) {
        this.given = given;
    }

    void learned(List<NodeId> members) {
        learned = members;
    }

    /** All of them, in the order in which they are asked: those of the URL first, beginning with any. */
    List<NodeId> inTurn(RandomGenerator random) {
        List<NodeId> first = new ArrayList<>(given);
        Collections.rotate(first, random.nextInt(first.size()));
        Set<NodeId> all = new LinkedHashSet<>(first);
        all.addAll(learned);
        return List.copyOf(all);
    }
}
