// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

/** Numbers by keys that are not 0, without objects: 12 bytes each and some room. */
final class LongTable {
    private long[] keys;
    private int[] values;
    private int size;
    private int limit;

    LongTable(int capacity) {
        resize(Integer.highestOneBit(Math.max(16, capacity * 2 - 1)));
    }

    private void resize(int capacity) {
        keys = new long[capacity];
        values = new int[capacity];
        limit = capacity / 8 * 5;
    }

    int size() {
        return size;
    }

    /** -1 if there is none. */
    int get(long key) {
        for (int at = place(key); ; at = (at + 1) & (keys.length - 1)) {
            if (keys[at] == key) {
                return values[at];
            }
            if (keys[at] == 0) {
                return -1;
            }
        }
    }

    private int place(long key) {
        long hash = key * 0x9E3779B97F4A7C15L;
        return (int) (hash >>> 32) & (keys.length - 1);
    }

    void put(long key, int value) {
        if (size >= limit) {
            long[] oldKeys = keys;
            int[] oldValues = values;
            resize(keys.length * 2);
            size = 0;
            for (int i = 0; i < oldKeys.length; i++) {
                if (oldKeys[i] != 0) {
                    put(oldKeys[i], oldValues[i]);
                }
            }
        }
        int at = place(key);
        while (keys[at] != 0 && keys[at] != key) {
            at = (at + 1) & (keys.length - 1);
        }
        size += keys[at] == 0 ? 1 : 0;
        keys[at] = key;
        values[at] = value;
    }
}
