// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The grants of a member that ends in order, as the next start takes them over: with them it knows all that may still be believed. */
public final class LeaseTable {
    /** No entry is written in more bytes. */
    public static final int MAX_ENTRY_BYTES = 4096;

    /**
     * A grant that lives.
     *
     * @param holder its session; {@link #NOBODY} if it was imported and not re-asserted
     */
    public record Entry(Key key, Peer holder, LeaseCall.Import grant) {
        /**
         * The same so many nanoseconds later: what is kept, is kept by the clock; what may be believed in, may be for
         * all of its time.
         */
        public Entry after(long nanos) {
            return new Entry(key, holder, grant.after(nanos));
        }

        /** Writes all but the session, which ends with its member. */
        public void write(WireWriter out) {
            out.text(key.id()).number(grant.token()).number(grant.hi());
            LeaseCodec.mode(grant.mode(), out);
            out.number(grant.permits()).number(grant.ttl()).number(grant.left()).number(grant.keep());
            LeaseCodec.owner(grant.owner(), out);
        }
    }

    /** The session of a grant that none has. */
    public static final Peer NOBODY = HeldGrant.NOBODY;

    private LeaseTable() {}

    /**
     * All grants of a member's cell, between turns; empty if they do not say everything, as when a name is kept closed.
     *
     * @param now on the cell's clock
     */
    public static Optional<List<Entry>> of(Cell cell, long now) {
        List<Entry> table = new ArrayList<>();
        boolean complete = true;
        if (cell.machine(LeaseKeys.DIRECTORY) instanceof LockDirectory directory) {
            for (String name : directory.names()) {
                if (cell.machine(LeaseKeys.lock(name)) instanceof LockManager manager) {
                    complete &= manager.export(table, now);
                }
            }
        }
        return complete ? Optional.of(table) : Optional.empty();
    }

    /** Reads what {@link Entry#write} wrote. */
    public static Entry read(WireReader in) throws WireException {
        Key key = LeaseKeys.lock(in.text(LeaseCodec.MAX_NAME));
        long token = in.number();
        long hi = in.number();
        if (hi < token) {
            throw new WireException("tokens from " + token + " to " + hi);
        }
        return new Entry(
                key,
                NOBODY,
                new LeaseCall.Import(
                        token,
                        hi,
                        LeaseCodec.mode(in),
                        LeaseCodec.integer(in),
                        LeaseCodec.ttl(in),
                        in.number(),
                        in.number(),
                        LeaseCodec.owner(in)));
    }
}
