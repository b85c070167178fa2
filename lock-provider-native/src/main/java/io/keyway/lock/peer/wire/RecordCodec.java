// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import java.util.List;

/** Writes and reads the records that the machines of one algorithm force to disk. Stateless. */
public interface RecordCodec {
    /** The most bytes of a record. */
    int MAX_BYTES = 1 << 20;

    /** The machine that a record is of. A later record of a machine takes the place of all former ones. */
    Key key(DurableRecord record);

    /** The members by which its machine counts, as that record says; empty if it says nothing of them. */
    default List<String> members(DurableRecord record) {
        return List.of();
    }

    /** Writes a record, its key included, in at most {@link #MAX_BYTES}. */
    void write(DurableRecord record, WireWriter out);

    /**
     * Reads what {@link #write} wrote.
     *
     * @throws WireException if no codec of this version writes such bytes
     */
    DurableRecord read(WireReader in) throws WireException;
}
