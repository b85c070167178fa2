// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Algorithm;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;

/** The LockService of a member's cell: leads each name to its {@link LockManager}, and the empty one to the directory. */
public final class LeaseMembers implements Algorithm {
    private final LeaseSettings settings;

    public LeaseMembers(LeaseSettings settings) {
        this.settings = settings;
    }

    @Override
    public int id() {
        return LeaseKeys.ALGORITHM;
    }

    @Override
    public Machine create(Key key) {
        return key.equals(LeaseKeys.DIRECTORY) ? new LockDirectory() : new LockManager(key, settings);
    }
}
