// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

/** Fingerprints, in 8 bytes each and some room: an open table that doubles. */
final class LongSet {
    private long[] all = new long[1 << 16];
    private int size;

    int size() {
        return size;
    }

    boolean contains(long print) {
        long mine = print == 0 ? 1 : print;
        int mask = all.length - 1;
        int at = (int) mine & mask;
        while (all[at] != 0 && all[at] != mine) {
            at = (at + 1) & mask;
        }
        return all[at] == mine;
    }

    /** False if it is known; 0 counts as 1. */
    boolean add(long print) {
        if (size >= all.length / 4 * 3) {
            grow();
        }
        long mine = print == 0 ? 1 : print;
        int mask = all.length - 1;
        int at = (int) mine & mask;
        while (all[at] != 0) {
            if (all[at] == mine) {
                return false;
            }
            at = (at + 1) & mask;
        }
        all[at] = mine;
        size++;
        return true;
    }

    private void grow() {
        long[] before = all;
        all = new long[before.length * 2];
        int mask = all.length - 1;
        for (long each : before) {
            if (each != 0) {
                int at = (int) each & mask;
                while (all[at] != 0) {
                    at = (at + 1) & mask;
                }
                all[at] = each;
            }
        }
    }
}
