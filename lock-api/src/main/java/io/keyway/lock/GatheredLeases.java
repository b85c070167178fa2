// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.ArrayList;
import java.util.List;

/**
 * The leases of a set that is on its way: those of its first locks, in the order of the names, so that whoever waits
 * for the next holds lower ones alone. For one thread at a time.
 */
final class GatheredLeases {
    private final int size;
    private final List<Lease> held = new ArrayList<>();

    GatheredLeases(int size) {
        this.size = size;
    }

    /** Whether all are here and held; gives back those from the first one on that was lost meanwhile. */
    boolean complete() {
        for (int i = 0; i < held.size(); i++) {
            if (!held.get(i).isHeld()) {
                giveBackFrom(i, false);
            }
        }
        return held.size() == size;
    }

    /** Returns which lock is to be asked for next. */
    int next() {
        return held.size();
    }

    void add(Lease lease) {
        held.add(lease);
    }

    List<Lease> all() {
        return List.copyOf(held);
    }

    /** Ends all; {@code waiting}: the answers are there when this returns, or their time is over. */
    void giveBack(boolean waiting) {
        giveBackFrom(0, waiting);
    }

    private void giveBackFrom(int first, boolean waiting) {
        List<Lease> back = held.subList(first, held.size());
        for (int i = back.size() - 1; i >= 0; i--) {
            back.get(i).releaseAsync();
        }
        if (waiting) {
            back.forEach(Lease::close);
        }
        back.clear();
    }
}
