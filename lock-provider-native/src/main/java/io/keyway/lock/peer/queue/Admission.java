// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/**
 * Which grants of one name may stand at the same time: an exclusive one stands alone, shared ones stand beside each
 * other, and permits beside permits as long as all of them together are no more than there are. Pure.
 *
 * <p>Asked about the head of a queue alone, and again after each grant, it is fair: nobody overtakes, so that neither a
 * writer nor a request for many permits starves; readers that stand one behind another are granted together; and
 * whoever wants nothing that is left does not hold up more than those behind it.
 */
public final class Admission {
    /** One holder at a time. */
    public static final Admission EXCLUSIVE = of(LockMode.EXCLUSIVE);

    /** What a grant takes of its lock, or a request would take. */
    public interface Claim {
        LockMode mode();

        /** How many permits; of no meaning in other modes. */
        int permits();
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
    public boolean admits(Collection<? extends Claim> granted, Claim asked, int capacity) {
        if (!serves(asked.mode()) || asked.mode() == LockMode.EXCLUSIVE) {
            return serves(asked.mode()) && granted.isEmpty();
        }
        long permits = asked.permits();
        for (Claim claim : granted) {
            if (claim.mode() != asked.mode()) {
                return false;
            }
            permits += claim.permits();
        }
        return asked.mode() == LockMode.SHARED || permits <= capacity;
    }
}
