// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockKeys;

/** The addresses of the machines of the lease service: a lock's is its name; the others could not be names. */
public final class LeaseKeys {
    public static final int ALGORITHM = 1;

    /** The names that are not at rest at a member; at a client, whoever asks for them. */
    public static final Key DIRECTORY = LockKeys.directory(ALGORITHM);

    /** The cached grants of a client. */
    static final Key CACHE = LockKeys.cache(ALGORITHM);

    private LeaseKeys() {}

    public static Key lock(String name) {
        return new Key(ALGORITHM, name);
    }
}
