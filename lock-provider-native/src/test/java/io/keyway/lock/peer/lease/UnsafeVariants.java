// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.client.LockClientHelper;
import io.keyway.lock.peer.client.UnsafeCaches;
import io.keyway.lock.peer.client.UnsafeHelpers;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.queue.LockManager;
import io.keyway.lock.peer.queue.UnsafeManagers;
import io.keyway.lock.peer.queue.UnsafeModes;
import io.keyway.lock.peer.queue.UnsafeQueue;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Unsafe;
import java.util.function.Predicate;

/** Lease services with one repair undone, for tests that must find it. */
public final class UnsafeVariants {
    private UnsafeVariants() {}

    /** The member's side. */
    public static MachineFactory members(Unsafe variant, LockSettings settings) {
        return variant(
                new LeaseAlgorithm(settings).memberMachines(all -> true),
                key -> UnsafeManagers.manager(variant, key, settings));
    }

    /** The same of shared modes and permits, for the names that a member owns. */
    public static MachineFactory members(UnsafeModes variant, LockSettings settings, Predicate<String> owned) {
        return variant(new LeaseAlgorithm(settings).memberMachines(owned), key -> variant.manager(key, settings));
    }

    /** The same of what a manager must heed. */
    public static MachineFactory members(UnsafeQueue variant, LockSettings settings) {
        return variant(new LeaseAlgorithm(settings).memberMachines(all -> true), key -> variant.manager(key, settings));
    }

    /** The clients' side of what a helper must heed. */
    public static MachineFactory clients(UnsafeCaches variant, LockSettings settings) {
        return variant(new LeaseAlgorithm(settings).clientMachines(), key -> variant.helper(key, settings));
    }

    /** The clients' side. */
    public static MachineFactory clients(Unsafe variant, LockSettings settings) {
        return variant(
                new LeaseAlgorithm(settings).clientMachines(), key -> UnsafeHelpers.helper(variant, key, settings));
    }

    /** For how long a member that restarts grants nothing; {@code safe} is the right answer. */
    public static long quarantine(Unsafe variant, long safe) {
        return variant == Unsafe.NO_QUARANTINE ? 0 : safe;
    }

    private interface Maker {
        Machine create(Key key);
    }

    private static MachineFactory variant(MachineFactory regular, Maker maker) {
        return new MachineFactory() {
            @Override
            public Machine create(Key key) {
                Machine machine = regular.create(key);
                return machine instanceof LockManager || machine instanceof LockClientHelper
                        ? maker.create(key)
                        : machine;
            }
        };
    }
}
