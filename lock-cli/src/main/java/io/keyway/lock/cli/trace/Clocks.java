// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.trace;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * By how much the clocks of processes differ at least, as their messages show: none arrives before it was sent. Clocks
 * of which no message says that they differ are taken as they are.
 */
final class Clocks {
    private static final long NONE = Long.MAX_VALUE;

    /** By sender and receiver, the shortest time that a message seems to have taken. */
    private final long[][] shortest;

    Clocks(int processes) {
        shortest = new long[processes][processes];
        for (long[] row : shortest) {
            Arrays.fill(row, NONE);
        }
    }

    void message(int from, int to, long sent, long came) {
        shortest[from][to] = Math.min(shortest[from][to], came - sent);
    }

    /** What to add to the times of each process. */
    long[] corrections() {
        int count = shortest.length;
        long[] corrections = new long[count];
        boolean[] known = new boolean[count];
        for (int first = 0; first < count; first++) {
            if (!known[first]) {
                known[first] = true;
                ArrayDeque<Integer> next = new ArrayDeque<>();
                next.add(first);
                while (!next.isEmpty()) {
                    int at = next.remove();
                    for (int other = 0; other < count; other++) {
                        if (!known[other] && (shortest[at][other] != NONE || shortest[other][at] != NONE)) {
                            known[other] = true;
                            corrections[other] = corrections[at] - ahead(at, other);
                            next.add(other);
                        }
                    }
                }
            }
        }
        return corrections;
    }

    /** By how much the other's clock is ahead; 0 if nothing speaks for it. */
    private long ahead(int here, int other) {
        long there = shortest[here][other];
        long back = shortest[other][here];
        if ((there == NONE || there >= 0) && (back == NONE || back >= 0)) {
            return 0;
        }
        if (there == NONE) {
            return -back;
        }
        return back == NONE ? there : (there - back) / 2; // as if both ways took the same time
    }
}
