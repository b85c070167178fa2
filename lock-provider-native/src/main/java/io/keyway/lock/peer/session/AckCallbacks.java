// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.ClientView.Echoed;
import io.keyway.lock.peer.kernel.ClientView.Received;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The keys of one session that are to be told what the member acknowledges and echoes. */
final class AckCallbacks {
    private final TreeMap<Long, List<Key>> receipts = new TreeMap<>();
    private final Set<Key> unstamped = new LinkedHashSet<>();
    private final Map<Key, Long> confirms = new LinkedHashMap<>();
    private final Set<Key> afterFrame = new LinkedHashSet<>();

    void receipt(Key key, long number) {
        receipts.computeIfAbsent(number, fresh -> new ArrayList<>(1)).add(key);
    }

    /** The key wants to know when the next stamp has come back. */
    void confirm(Key key) {
        unstamped.add(key);
    }

    /** The key wants to know when the echo of the frame at hand has been counted. */
    void afterFrame(Key key) {
        afterFrame.add(key);
    }

    /** A stamp goes out. */
    void stamped(long clock) {
        if (!unstamped.isEmpty()) {
            for (Key key : unstamped) {
                confirms.put(key, clock);
            }
            unstamped.clear();
        }
    }

    void acknowledged(long upTo, Turn turn) {
        while (!receipts.isEmpty() && receipts.firstKey() <= upTo) {
            Map.Entry<Long, List<Key>> first = receipts.pollFirstEntry();
            Received call = new Received(first.getKey());
            for (Key key : first.getValue()) {
                turn.call(key, call);
            }
        }
    }

    /** The echo of a frame has moved the beliefs, if it does. */
    void echoed(Beliefs beliefs, Turn turn) {
        if (confirms.isEmpty() && afterFrame.isEmpty()) {
            return;
        }
        for (Iterator<Map.Entry<Key, Long>> all = confirms.entrySet().iterator(); all.hasNext(); ) {
            Map.Entry<Key, Long> next = all.next();
            if (beliefs.covers(next.getValue())) {
                afterFrame.add(next.getKey());
                all.remove();
            }
        }
        for (Key key : afterFrame) {
            turn.call(key, Echoed.ECHOED);
        }
        afterFrame.clear();
    }

    void keys(Set<Key> into) {
        for (List<Key> waiting : receipts.values()) {
            into.addAll(waiting);
        }
        into.addAll(unstamped);
        into.addAll(confirms.keySet());
        into.addAll(afterFrame);
    }

    void clear() {
        receipts.clear();
        unstamped.clear();
        confirms.clear();
        afterFrame.clear();
    }

    AckCallbacks copy() {
        AckCallbacks copy = new AckCallbacks();
        for (Map.Entry<Long, List<Key>> entry : receipts.entrySet()) {
            copy.receipts.put(entry.getKey(), new ArrayList<>(entry.getValue()));
        }
        copy.unstamped.addAll(unstamped);
        copy.confirms.putAll(confirms);
        copy.afterFrame.addAll(afterFrame);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(receipts.size());
        for (Map.Entry<Long, List<Key>> entry : receipts.entrySet()) {
            out.put(entry.getKey()).value(entry.getValue());
        }
        out.value(unstamped).value(afterFrame).put(confirms.size());
        for (Map.Entry<Key, Long> entry : confirms.entrySet()) {
            out.put(entry.getKey()).time(entry.getValue());
        }
    }
}
