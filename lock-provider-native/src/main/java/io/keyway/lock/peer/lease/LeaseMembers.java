// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.queue.LockDirectory;
import io.keyway.lock.peer.queue.LockManager;
import io.keyway.lock.peer.queue.WrongMember;
import io.keyway.lock.peer.service.LockSettings;
import java.util.function.Predicate;

/** The LockService of a member's cell: leads each name to its {@link LockManager}, and the empty one to the directory. */
public final class LeaseMembers implements MachineFactory {
    private final LockSettings settings;
    private final Predicate<String> owned;

    /** A cell that decides on all names. */
    public LeaseMembers(LockSettings settings) {
        this(settings, name -> true);
    }

    /** @param owned whether this cell is the one that decides on a name; always the same answer */
    public LeaseMembers(LockSettings settings, Predicate<String> owned) {
        this.settings = settings;
        this.owned = owned;
    }

    @Override
    public Machine create(Key key) {
        if (key.equals(LeaseKeys.DIRECTORY)) {
            return new LockDirectory();
        }
        return owned.test(key.id()) ? new LockManager(key, settings, Admission.EXCLUSIVE) : new WrongMember(key);
    }
}
