// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.TreeModes;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which grants of one name may stand at the same time: an exclusive one stands alone, shared ones stand beside each
 * other, those of a tree's levels as {@link TreeModes} has it, and permits beside permits as long as all of them
 * together are no more than there are by the word of whoever asks. Pure.
 *
 * <p>Asked about the head of a queue, and again after each grant, it is fair: nobody overtakes, so that neither a
 * writer nor a request for many permits starves, and readers that stand one behind another are granted together. The
 * one exception is {@link WaitQueue#above}.
 */
public final class Admission {
    /** One holder at a time, or many readers; or the levels of trees. */
    public static final Admission LOCKS = new Admission(EnumSet.complementOf(EnumSet.of(LockMode.PERMITS)));

    /** Permits. */
    public static final Admission SEMAPHORES = of(LockMode.PERMITS);

    /** What a grant takes of its lock, or a request would take. */
    public interface Claim {
        LockMode mode();

        /** How many permits; of no meaning in other modes. */
        int permits();
    }

    /** What grants take together. */
    static class Claims {
        private final int[] grants;
        private long permits;

        Claims() {
            this(new int[MODES.length], 0);
        }

        private Claims(int[] grants, long permits) {
            this.grants = grants;
            this.permits = permits;
        }

        final void count(Claim claim, int times) {
            grants[at(claim.mode())] += times;
            permits += claim.mode() == LockMode.PERMITS ? (long) times * claim.permits() : 0;
        }

        /** Where the grants of that mode are counted. */
        private static int at(LockMode mode) {
            return switch (mode) {
                case EXCLUSIVE -> 0;
                case SHARED -> 1;
                case PERMITS -> 2;
                case INTENT_SHARED -> 3;
                case INTENT_EXCLUSIVE -> 4;
                case TREE_SHARED -> 5;
                case TREE_SHARED_INTENT_EXCLUSIVE -> 6;
                case TREE_EXCLUSIVE -> 7;
            };
        }

        /** Whether all of them stand beside a claim in that mode, permits beside permits. */
        private boolean standBeside(LockMode mode) {
            for (LockMode each : MODES) {
                boolean beside = each == mode && mode == LockMode.PERMITS;
                if (grants[at(each)] > 0 && !beside && standsInTheWay(each, mode)) {
                    return false;
                }
            }
            return true;
        }

        /** These but for those, which are some of them. */
        final Claims without(@Nullable Claims some) {
            if (some == null) {
                return this;
            }
            Claims rest = copy();
            for (int i = 0; i < grants.length; i++) {
                rest.grants[i] -= some.grants[i];
            }
            rest.permits -= some.permits;
            return rest;
        }

        final Claims copy() {
            return new Claims(grants.clone(), permits);
        }

        /** How many permits they are. */
        final long permits() {
            return permits;
        }
    }

    private static final LockMode[] MODES = LockMode.values();

    private final Set<LockMode> modes;

    private Admission(Set<LockMode> modes) {
        this.modes = modes;
    }

    /** Grants in these modes and in no other. */
    public static Admission of(LockMode first, LockMode... others) {
        return new Admission(EnumSet.of(first, others));
    }

    /** Whether requests of that mode are ever granted. */
    public boolean serves(LockMode mode) {
        return modes.contains(mode);
    }

    /**
     * Whether that claim may be granted beside those that are.
     *
     * @param capacity how many permits there are, as the request says; of no meaning in other modes
     */
    boolean admits(Claims granted, Claim asked, int capacity) {
        return admits(granted, asked.mode(), asked.permits(), capacity);
    }

    /** As {@link #admits(Claims, Claim, int)}. */
    boolean admits(Claims granted, LockMode mode, int permits, int capacity) {
        return serves(mode)
                && granted.standBeside(mode)
                && (mode != LockMode.PERMITS || granted.permits + permits <= capacity);
    }

    /** Whether a request of one mode could be granted sooner if a grant of the other one ended. */
    static boolean standsInTheWay(LockMode granted, LockMode asked) {
        return !TreeModes.together(granted, asked);
    }
}
