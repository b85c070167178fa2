// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockKeys;

/** The addresses of the machines: a lock's is its name; the others could not be names. */
final class BakeryKeys {
    static final int ALGORITHM = 3;

    /** What a member asks of the leaders for its clients. */
    static final Key HOME = new Key(ALGORITHM, "\u0000home");

    /** The tickets of all locks, at a leader. */
    static final Key LEADER = new Key(ALGORITHM, "\u0000leader");

    /** A member's part in the election of leaders. */
    static final Key ELECTION = new Key(ALGORITHM, "\u0000election");

    /** What a member says of its cluster. */
    static final Key CLUSTER = LockKeys.cluster(ALGORITHM);

    /** The names that somebody asks for; at a client, whoever asks for them. */
    static final Key DIRECTORY = LockKeys.directory(ALGORITHM);

    private BakeryKeys() {}

    static Key lock(String name) {
        return LockKeys.lock(ALGORITHM, name);
    }
}
