// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The misfortunes of single frames: drawn from the seed and the frame's place (which client, which of its links, which direction, which frame of it), or listed one by one in a plan that a shrinker is at
 * work on.
 */
final class Noise {
    private static final int LIMIT = 4096;

    private final long seed;
    private final @Nullable Map<Long, Mishap> listed;
    private final List<Mishap> met = new ArrayList<>();

    Noise(long seed, @Nullable List<Mishap> listed) {
        this.seed = Draws.of(seed, 3);
        this.listed = listed == null ? null : new HashMap<>();
        if (listed != null) {
            listed.forEach(mishap -> this.listed.put(mishap.key(), mishap));
        }
    }

    static long key(int client, int ordinal, int direction, long index) {
        return ((((long) client << 16) | ordinal) << 1 | direction) << 24 | index;
    }

    long draw(long key) {
        return Draws.of(seed, key);
    }

    boolean isListed() {
        return listed != null;
    }

    @Nullable
    Mishap listed(long key) {
        return listed == null ? null : listed.get(key);
    }

    /** Remembered for the shrinker. */
    void met(Mishap mishap) {
        if (met.size() < LIMIT) {
            met.add(mishap);
        }
    }

    List<Mishap> met() {
        return met;
    }
}
