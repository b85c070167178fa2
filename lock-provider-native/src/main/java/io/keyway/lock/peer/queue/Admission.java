// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which grants of one name may stand at the same time: an exclusive one stands alone, shared ones stand beside each
 * other, and permits beside permits as long as all of them together are no more than there are by the word of whoever
 * asks. Pure.
 *
 * <p>Asked about the head of a queue, and again after each grant, it is fair: nobody overtakes, so that neither a
 * writer nor a request for many permits starves, and readers that stand one behind another are granted together. The
 * one exception is {@link WaitQueue#above}.
 */
public final class Admission {
    /** One holder at a time, or many readers. */
    public static final Admission LOCKS = of(LockMode.EXCLUSIVE, LockMode.SHARED);

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
        private int exclusive;
        private int shared;
        private int permitGrants;
        private long permits;

        final void count(Claim claim, int times) {
            switch (claim.mode()) {
                case EXCLUSIVE -> exclusive += times;
                case SHARED -> shared += times;
                case PERMITS -> {
                    permitGrants += times;
                    permits += (long) times * claim.permits();
                }
            }
        }

        /** These but for those, which are some of them. */
        final Claims without(@Nullable Claims some) {
            if (some == null) {
                return this;
            }
            Claims rest = copy();
            rest.exclusive -= some.exclusive;
            rest.shared -= some.shared;
            rest.permitGrants -= some.permitGrants;
            rest.permits -= some.permits;
            return rest;
        }

        final Claims copy() {
            Claims copy = new Claims();
            copy.exclusive = exclusive;
            copy.shared = shared;
            copy.permitGrants = permitGrants;
            copy.permits = permits;
            return copy;
        }

        /** How many permits they are. */
        final long permits() {
            return permits;
        }
    }

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
        if (!serves(mode)) {
            return false;
        }
        return switch (mode) {
            case EXCLUSIVE -> granted.exclusive + granted.shared + granted.permitGrants == 0;
            case SHARED -> granted.exclusive + granted.permitGrants == 0;
            case PERMITS -> granted.exclusive + granted.shared == 0 && granted.permits + permits <= capacity;
        };
    }

    /** Whether a request of one mode could be granted sooner if a grant of the other one ended. */
    static boolean standsInTheWay(LockMode granted, LockMode asked) {
        return granted != LockMode.SHARED || asked != LockMode.SHARED;
    }
}
