// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import java.util.AbstractList;
import java.util.List;

/**
 * The buckets of a semaphore: a way to write down how many permits are out. One bucket stands for one resource; they
 * fill from the lowest and drain from the highest, so that all but the last are full. What decides is the number alone.
 */
public final class Buckets {
    private Buckets() {}

    /**
     * What is in the buckets, the lowest first; as many as are needed.
     *
     * @param out how many permits are out
     * @param perResource how many one bucket takes; 0 if nobody has said it: there are no buckets then
     */
    public static List<Integer> of(int out, int perResource) {
        if (out <= 0 || perResource <= 0) {
            return List.of();
        }
        int size = (out - 1) / perResource + 1;
        return new AbstractList<>() {
            @Override
            public Integer get(int index) {
                if (index < 0 || index >= size) {
                    throw new IndexOutOfBoundsException("bucket " + index + " of " + size);
                }
                return index < size - 1 ? perResource : out - perResource * (size - 1);
            }

            @Override
            public int size() {
                return size;
            }
        };
    }
}
