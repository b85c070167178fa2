// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.StateEncoder;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The other members of a cluster, as they introduced themselves to this one in its present life. */
final class KnownMembers {
    private final Map<String, Incarnation> met = new TreeMap<>();
    /** Those of whom more than one life was met. */
    private final Set<String> livedBefore = new LinkedHashSet<>();
    /** Lives that were refused because another one was there. */
    private final Set<Incarnation> told = new LinkedHashSet<>();

    /** A life of that member was admitted; true if it was another one the last time. */
    boolean admitted(String node, Incarnation life) {
        Incarnation last = met.put(node, life);
        boolean another = last != null && !last.equals(life);
        if (another) {
            livedBefore.add(node);
        }
        return another;
    }

    /**
     * Whether a life of that member was met before its present one: then its cluster has run, whatever it was told
     * itself.
     */
    boolean livedBefore(String node) {
        return livedBefore.contains(node);
    }

    /** A life was refused because another one of its member is there; true for the first time. */
    boolean doubled(Incarnation life) {
        return told.add(life);
    }

    KnownMembers copy() {
        KnownMembers copy = new KnownMembers();
        copy.met.putAll(met);
        copy.livedBefore.addAll(livedBefore);
        copy.told.addAll(told);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(met.size());
        met.forEach(
                (node, life) -> out.put(node).put(life.high()).put(life.low()).put(livedBefore.contains(node)));
        out.put(told.size());
    }
}
