// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The misfortunes of single frames: drawn from the seed and the frame's place (which client, which of its links, which
 * direction, which frame of it), or listed one by one in a plan that a shrinker is at work on.
 */
final class Noise {
    private static final int LIMIT = 4096;

    private final long seed;
    private final int members;
    private final @Nullable List<ArrayDeque<Mishap>> listed;
    private final List<Mishap> met = new ArrayList<>();

    Noise(long seed, SimWorld world, @Nullable List<Mishap> list) {
        this.seed = Draws.of(seed, 3);
        this.members = world.memberNodes();
        if (list == null) {
            listed = null;
            return;
        }
        listed = new ArrayList<>();
        for (int i = 0; i < 2 * members * world.size(); i++) {
            listed.add(new ArrayDeque<>());
        }
        for (Mishap mishap : list) {
            if (world.has(mishap.client()) && world.has(mishap.member())) {
                listed.get(place(world.slot(mishap.client()), world.slot(mishap.member()), mishap.direction()))
                        .addLast(mishap);
            }
        }
    }

    private int place(int client, int member, int direction) {
        return 2 * (client * members + member) + direction;
    }

    long draw(SimLink link, int direction, long index) {
        long cell = ((long) link.client.node().slot() << 6) | link.client.number();
        return Draws.of(seed, (((cell << 16) | link.ordinal) << 1 | direction) << 24 | index);
    }

    boolean isListed() {
        return listed != null;
    }

    /** Takes what the plan lists for the frame that is sent now. */
    @Nullable
    Mishap next(SimLink link, int direction, long now) {
        if (listed == null) {
            return null;
        }
        ArrayDeque<Mishap> own = listed.get(place(link.client.node().slot(), link.memberNode.slot(), direction));
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
