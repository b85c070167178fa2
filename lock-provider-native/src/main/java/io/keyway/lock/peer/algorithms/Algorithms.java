// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.algorithms;

import io.keyway.lock.peer.bakery.BakeryAlgorithm;
import io.keyway.lock.peer.lamport.LamportAlgorithm;
import io.keyway.lock.peer.lease.FailoverAlgorithm;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.service.Algorithm;
import java.util.List;
import java.util.Optional;

/** The registration of algorithms: one line for each. */
public final class Algorithms {
    /** All of them; the first is the one of members and clients that name none. */
    public static final List<Algorithm> ALL = List.of(
            new LeaseAlgorithm(),
            LeaseAlgorithm.ofAgents(),
            new LamportAlgorithm(),
            new BakeryAlgorithm(),
            new FailoverAlgorithm());

    private Algorithms() {}

    /** The one of members and clients that name none. */
    public static Algorithm standard() {
        return ALL.get(0);
    }

    /** The names of those that are not the standard one. */
    public static List<String> others() {
        return ALL.stream().skip(1).map(Algorithm::name).toList();
    }

    /** Their names, for people. */
    public static String names() {
        List<String> names = ALL.stream().map(Algorithm::name).toList();
        int last = names.size() - 1;
        return String.join(", ", names.subList(0, last)) + " and " + names.get(last);
    }

    /** The one of that {@link Algorithm#name}; empty if there is none. */
    public static Optional<Algorithm> named(String name) {
        return ALL.stream().filter(each -> each.name().equals(name)).findFirst();
    }
}
