// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.kernel.MachineFactory;

/** What the source, or somebody in a hurry, does in another way; each is found by the simulator. */
public enum UnsafeLamport {
    /** The product. */
    NONE,
    /** No order among requests of one stamp: each takes its own for the first, and an equal stamp for a later one. */
    NO_TIE_BREAK,
    /** The clock does not heed what it receives. */
    CLOCK_NOT_MERGED,
    /** A message may overtake an earlier request of its sender. */
    UNORDERED,
    /** What was lost with a session is not said again. */
    SAYS_ONCE,
    /** A release ends all requests of its sender. */
    RELEASES_ALL,
    /** A restarted member begins at 0 and asks at once, and no other member tells it again what stands. */
    AMNESIA,
    /** A restarted member speaks while clients of its former life may hold what that one granted. */
    SPEAKS_EARLY,
    /** The answer of a suspected member is not waited for. */
    SUSPICION,
    /** The answer of one other is enough. */
    MAJORITY;

    /** The machines of a member, its process done in that way. */
    public MachineFactory machines() {
        MachineFactory regular = new LamportAlgorithm().memberMachines(all -> true);
        return key -> key.equals(LamportKeys.PROCESS) ? new UnsafeProcess(this) : regular.create(key);
    }
}
