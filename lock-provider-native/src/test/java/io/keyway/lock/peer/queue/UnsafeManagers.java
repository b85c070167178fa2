// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Unsafe;
import org.jspecify.annotations.Nullable;

/** Managers with one repair undone. */
public final class UnsafeManagers {
    private UnsafeManagers() {}

    /** A manager of that variant. */
    public static Machine manager(Unsafe variant, Key key, LockSettings settings) {
        return switch (variant) {
            case RELEASE_WITHOUT_TOKEN -> new ForgetfulManager(key, settings);
            case KEEPS_NOTHING -> new FreeingManager(key, settings);
            case PROMISES_LEASES_ONLY -> new CarelessManager(key, settings);
            default -> new LockManager(key, settings, Admission.LOCKS);
        };
    }

    private static final class ForgetfulManager extends LockManager {
        ForgetfulManager(Key key, LockSettings settings) {
            super(key, settings, Admission.LOCKS);
        }

        @Override
        @Nullable
        HeldGrant current(Peer from, long token) {
            for (HeldGrant grant : grants) {
                if (grant.peer.equals(from)) {
                    return grant;
                }
            }
            return null;
        }

        @Override
        LockManager fresh(Key key, LockSettings settings, Admission admission) {
            return new ForgetfulManager(key, settings);
        }
    }

    private static final class FreeingManager extends LockManager {
        FreeingManager(Key key, LockSettings settings) {
            super(key, settings, Admission.LOCKS);
        }

        @Override
        boolean keeps(HeldGrant grant, long used, Turn turn) {
            return false;
        }

        @Override
        LockManager fresh(Key key, LockSettings settings, Admission admission) {
            return new FreeingManager(key, settings);
        }
    }

    private static final class CarelessManager extends LockManager {
        CarelessManager(Key key, LockSettings settings) {
            super(key, settings, Admission.LOCKS);
        }

        @Override
        void promise(HeldGrant grant, Turn turn) {}

        @Override
        LockManager fresh(Key key, LockSettings settings, Admission admission) {
            return new CarelessManager(key, settings);
        }
    }
}
