// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.algorithms;

import io.keyway.lock.peer.lamport.LamportAlgorithm;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.service.Algorithm;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The registration of algorithms: one line for each. */
public final class Algorithms {
    /** All of them; the first is the one of members and clients that name none. */
    public static final List<Algorithm> ALL = List.of(new LeaseAlgorithm(), new LamportAlgorithm());

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
        return ALL.stream().map(Algorithm::name).collect(Collectors.joining(" and "));
    }

    /** The one of that {@link Algorithm#name}; empty if there is none. */
    public static Optional<Algorithm> named(String name) {
        return ALL.stream().filter(each -> each.name().equals(name)).findFirst();
    }
}
