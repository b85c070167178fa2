// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The buckets of a semaphore: a way to write down how many permits are out. One bucket stands for one resource; they
 * fill from the lowest and drain from the highest, so that all but the last are full. What decides is the number alone.
 */
public final class Buckets {
    /** So many are told, for people: of a semaphore that has filled more there is no list. */
    public static final int MOST = 10_000;

    private Buckets() {}

    /**
     * What is in the buckets, the lowest first; as many as are needed, and none if those are more than {@link #MOST}.
     *
     * @param out how many permits are out
     * @param perResource how many one bucket takes; 0 if nobody has said it: there are no buckets then
     */
    public static List<Integer> of(int out, int perResource) {
        if (out <= 0 || perResource <= 0 || (out - 1) / perResource >= MOST) {
            return List.of();
        }
        List<Integer> buckets = new ArrayList<>(Collections.nCopies(out / perResource, perResource));
        if (out % perResource > 0) {
            buckets.add(out % perResource);
        }
        return List.copyOf(buckets);
    }
}
