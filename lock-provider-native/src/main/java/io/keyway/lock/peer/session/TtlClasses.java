// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView.Grant;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The grants and waits of one session at its member, grouped by ttl: one deadline serves all grants of a class. */
final class TtlClasses {
    record Held(Key key, long token) {}

    private static final class TtlClass {
        final Set<Held> grants = new LinkedHashSet<>();
        final Map<Key, Integer> waits = new LinkedHashMap<>();

        boolean isEmpty() {
            return grants.isEmpty() && waits.isEmpty();
        }
    }

    private final TreeMap<Long, TtlClass> classes = new TreeMap<>();

    void grant(Key key, long token, long ttl) {
        of(ttl).grants.add(new Held(key, token));
    }

    void ungrant(Key key, long token, long ttl) {
        TtlClass of = classes.get(ttl);
        if (of != null && of.grants.remove(new Held(key, token)) && of.isEmpty()) {
            classes.remove(ttl);
        }
    }

    void await(Key key, long ttl) {
        of(ttl).waits.merge(key, 1, Integer::sum);
    }

    void unawait(Key key, long ttl) {
        TtlClass of = classes.get(ttl);
        if (of == null) {
            return;
        }
        of.waits.computeIfPresent(key, (same, times) -> times == 1 ? null : times - 1);
        if (of.isEmpty()) {
            classes.remove(ttl);
        }
    }

    private TtlClass of(long ttl) {
        return classes.computeIfAbsent(ttl, fresh -> new TtlClass());
    }

    /** The smallest ttl in use, or that one if none is. */
    long smallest(long otherwise) {
        return classes.isEmpty() ? otherwise : classes.firstKey();
    }

    /** The largest ttl in use, but at least that one. */
    long largest(long atLeast) {
        return classes.isEmpty() ? atLeast : Math.max(atLeast, classes.lastKey());
    }

    /** The smallest ttl of a grant; 0 if there is none. */
    long smallestGranted() {
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            if (!entry.getValue().grants.isEmpty()) {
                return entry.getKey();
            }
        }
        return 0;
    }

    /** The largest ttl of a grant; 0 if there is none. */
    long largestGranted() {
        for (Map.Entry<Long, TtlClass> entry : classes.descendingMap().entrySet()) {
            if (!entry.getValue().grants.isEmpty()) {
                return entry.getKey();
            }
        }
        return 0;
    }

    /** Takes out all grants of the smallest class that has any, in the order in which they were given. */
    List<Held> expireSmallest() {
        long ttl = smallestGranted();
        TtlClass of = of(ttl);
        List<Held> over = List.copyOf(of.grants);
        of.grants.clear();
        if (of.isEmpty()) {
            classes.remove(ttl);
        }
        return over;
    }

    /** All keys with a grant or a wait, each once. */
    Set<Key> keys() {
        Set<Key> keys = new LinkedHashSet<>();
        for (TtlClass of : classes.values()) {
            for (Held held : of.grants) {
                keys.add(held.key());
            }
            keys.addAll(of.waits.keySet());
        }
        return keys;
    }

    /** All keys with a wait. */
    void waiting(Set<Key> into) {
        for (TtlClass of : classes.values()) {
            into.addAll(of.waits.keySet());
        }
    }

    void list(Peer peer, List<Grant> into) {
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            for (Held held : entry.getValue().grants) {
                into.add(new Grant(peer, held.key(), held.token(), entry.getKey()));
            }
        }
    }

    TtlClasses copy() {
        TtlClasses copy = new TtlClasses();
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            TtlClass of = copy.of(entry.getKey());
            of.grants.addAll(entry.getValue().grants);
            of.waits.putAll(entry.getValue().waits);
        }
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(classes.size());
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            TtlClass of = entry.getValue();
            out.put(entry.getKey()).put(of.grants.size());
            for (Held held : of.grants) {
                out.put(held.key()).put(held.token());
            }
            out.put(of.waits.size());
            for (Map.Entry<Key, Integer> wait : of.waits.entrySet()) {
                out.put(wait.getKey()).put(wait.getValue());
            }
        }
    }
}
