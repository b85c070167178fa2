// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The misfortunes of single frames: drawn from the seed and the frame's place (which client, which of its links, which direction, which frame of it), or listed one by one in a plan that a shrinker is at
 * work on.
 */
final class Noise {
    private static final int LIMIT = 4096;

    private final long seed;
    private final @Nullable List<ArrayDeque<Mishap>> listed;
    private final List<Mishap> met = new ArrayList<>();

    Noise(long seed, int nodes, @Nullable List<Mishap> list) {
        this.seed = Draws.of(seed, 3);
        if (list == null) {
            listed = null;
            return;
        }
        listed = new ArrayList<>();
        for (int i = 0; i < 2 * nodes; i++) {
            listed.add(new ArrayDeque<>());
        }
        list.stream()
                .filter(mishap -> mishap.client() < nodes)
                .forEach(mishap ->
                        listed.get(2 * mishap.client() + mishap.direction()).addLast(mishap));
    }

    long draw(int client, int ordinal, int direction, long index) {
        return Draws.of(seed, ((((long) client << 16) | ordinal) << 1 | direction) << 24 | index);
    }

    boolean isListed() {
        return listed != null;
    }

    /** Takes what the plan lists for the frame that is sent now. */
    @Nullable
    Mishap next(int client, int direction, long now) {
        if (listed == null) {
            return null;
        }
        ArrayDeque<Mishap> own = listed.get(2 * client + direction);
        return !own.isEmpty() && own.peekFirst().at() <= now ? own.removeFirst() : null;
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
