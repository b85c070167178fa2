// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The holds of a load that a page can show: no more than a number of them, those that took longest from the question to
 * the end. Of many thousand the others are too short to be seen beside them.
 */
final class LongestHolds {
    private final int most;
    private final PriorityQueue<LoadRecord.Span> holds =
            new PriorityQueue<>(Comparator.comparingLong(hold -> hold.ended() - hold.asked()));

    private long left;

    LongestHolds(int most) {
        this.most = most;
    }

    void add(LoadRecord.Span hold) {
        holds.add(hold);
        if (holds.size() > most) {
            holds.remove();
            left++;
        }
    }

    /** In the order in which they were granted. */
    List<LoadRecord.Span> all() {
        return holds.stream()
                .sorted(Comparator.comparingLong(LoadRecord.Span::got))
                .toList();
    }

    /** How many were left out. */
    long left() {
        return left;
    }
}
