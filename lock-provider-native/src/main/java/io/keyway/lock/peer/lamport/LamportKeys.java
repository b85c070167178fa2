// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockKeys;

/** The addresses of the machines: a lock's is its name; the others could not be names. */
final class LamportKeys {
    static final int ALGORITHM = 2;

    /** The member itself: its clock, and the queues of all locks. */
    static final Key PROCESS = new Key(ALGORITHM, "\u0000process");

    /** What a member says of its cluster. */
    static final Key CLUSTER = LockKeys.cluster(ALGORITHM);

    /** The names that somebody asks for; at a client, whoever asks for them. */
    static final Key DIRECTORY = LockKeys.directory(ALGORITHM);

    private LamportKeys() {}

    static Key lock(String name) {
        return LockKeys.lock(ALGORITHM, name);
    }
}
