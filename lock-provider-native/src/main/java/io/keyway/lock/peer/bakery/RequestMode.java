// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.service.LockMessage.Acquire;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;

/**
 * What a request asks for.
 *
 * @param mode exclusive, or shared for a reader
 * @param quiet of a soft writer, which is after all others whatever its ticket is: the nanoseconds that have to pass
 *     without readers; {@link Acquire#IN_THE_QUEUE} for others
 */
record RequestMode(LockMode mode, long quiet) {
    static final RequestMode WRITER = new RequestMode(LockMode.EXCLUSIVE, Acquire.IN_THE_QUEUE);
    static final RequestMode READER = new RequestMode(LockMode.SHARED, Acquire.IN_THE_QUEUE);

    private static final int WRITES = 0;
    private static final int READS = 1;
    private static final int SOFT = 2;

    static RequestMode of(LockMode mode, long quiet) {
        return mode == LockMode.SHARED
                ? READER
                : quiet == Acquire.IN_THE_QUEUE ? WRITER : new RequestMode(LockMode.EXCLUSIVE, quiet);
    }

    boolean isReader() {
        return mode == LockMode.SHARED;
    }

    boolean isSoft() {
        return quiet != Acquire.IN_THE_QUEUE;
    }

    /** Whether both may hold the lock at once. */
    boolean goesWith(RequestMode other) {
        return isReader() && other.isReader();
    }

    WireWriter write(WireWriter out) {
        return out.number(isSoft() ? SOFT + quiet : isReader() ? READS : WRITES);
    }

    static RequestMode read(WireReader in) throws WireException {
        long number = in.number();
        return number == WRITES
                ? WRITER
                : number == READS ? READER : new RequestMode(LockMode.EXCLUSIVE, number - SOFT);
    }
}
