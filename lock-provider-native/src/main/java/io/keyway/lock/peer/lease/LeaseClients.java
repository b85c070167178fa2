// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.client.DirectoryClient;
import io.keyway.lock.peer.client.GrantCache;
import io.keyway.lock.peer.client.LockClientHelper;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.service.LockSettings;

/** The LockClient's side of a cell: leads each name to its {@link LockClientHelper}. */
public final class LeaseClients implements MachineFactory {
    private final LockSettings settings;

    public LeaseClients(LockSettings settings) {
        this.settings = settings;
    }

    @Override
    public Machine create(Key key) {
        if (key.equals(LeaseKeys.DIRECTORY)) {
            return new DirectoryClient(key);
        }
        return key.equals(LeaseKeys.CACHE) ? new GrantCache(settings.cacheSize()) : new LockClientHelper(key, settings);
    }
}
