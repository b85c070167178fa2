// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.simulator.Options.Profile;

/**
 * What an operation takes of its lock: its mode, and of a semaphore the permits and its user's view of how many are.
 */
final class Claims {
    /** A user asks for so many permits at the most. */
    static final int MOST_PERMITS = 3;

    private static final int MOST_RESOURCES = 4;
    private static final int PHASES = 6;

    /** What is asked for, as requests say it. */
    record Claim(LockMode mode, int permits, int capacity, int perResource) {}

    private static final Claim ALONE = new Claim(LockMode.EXCLUSIVE, 1, 1, 1);
    private static final Claim SHARED = new Claim(LockMode.SHARED, 1, 1, 1);

    private final Options options;

    Claims(Options options) {
        this.options = options;
    }

    boolean areSemaphores() {
        return options.profile() == Profile.PERMITS;
    }

    /** Whether the users do more than to hold alone. */
    boolean areOfAllModes() {
        return areSemaphores() || options.profile() == Profile.SHARED;
    }

    /** @param permits 0 to {@link #MOST_PERMITS} - 1: how many more than one, if there are so many */
    Claim of(Act act, long permits) {
        return switch (act.verb()) {
            case "read", "tryread", "upgrade", "tryupgrade" -> SHARED;
            case "take", "trytake" -> permits(act, permits);
            default -> ALONE;
        };
    }

    /**
     * The number of resources changes as time goes on, and clients learn of it one after another; the third user of
     * each thinks that a resource has more permits than the others do.
     */
    private Claim permits(Act act, long more) {
        int perResource = 1 + act.name() % 3 + (act.user() == 2 ? 1 : 0);
        long phase = options.faultPhase() / PHASES;
        long seenAt = Math.max(0, act.at() - act.client() * phase / 8);
        long resources = 1 + Long.remainderUnsigned(Draws.of(options.seed() + 21, seenAt / phase), MOST_RESOURCES);
        int capacity = (int) (perResource * resources);
        return new Claim(LockMode.PERMITS, (int) Math.min(1 + more, capacity), capacity, perResource);
    }
}
