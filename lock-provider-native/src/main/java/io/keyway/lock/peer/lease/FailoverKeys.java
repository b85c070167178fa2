// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.service.LockKeys;

/** The addresses of the machines of a lease service whose leader can fail, beside those of its locks. */
final class FailoverKeys {
    static final int ALGORITHM = 4;

    /** Whether this member leads. */
    static final Key LEADERSHIP = new Key(ALGORITHM, "\u0000leadership");

    /** A member's part in the election of the leader. */
    static final Key ELECTION = new Key(ALGORITHM, "\u0000election");

    /** What a member says of its cluster. */
    static final Key CLUSTER = LockKeys.cluster(ALGORITHM);

    private FailoverKeys() {}
}
