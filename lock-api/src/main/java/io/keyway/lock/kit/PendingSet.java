// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The requests of one client that wait; closed once, after which nothing enters. */
final class PendingSet {

    private final Set<PendingAcquire> waiting = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** False if the client has closed. One that slips in during the close is seen by the close, or sees it here. */
    boolean add(PendingAcquire pending) {
        waiting.add(pending);
        if (closed) {
            waiting.remove(pending);
            return false;
        }
        return true;
    }

    void remove(PendingAcquire pending) {
        waiting.remove(pending);
    }

    int size() {
        return waiting.size();
    }

    List<PendingAcquire> close() {
        closed = true;
        return new ArrayList<>(waiting);
    }
}
