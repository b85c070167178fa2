// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockFields;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.Promising;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The grants of a member that ends in order, as the next start takes them over: with them it knows all that may still
 * be believed.
 */
public final class GrantTable {
    /** No entry is written in more bytes. */
    public static final int MAX_ENTRY_BYTES = 4096;

    /**
     * A grant that lives.
     *
     * @param holder its session; {@link #NOBODY} if it was imported and not re-asserted
     */
    public record Entry(Key key, Peer holder, LockCall.Import grant) {
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
            LockFields.mode(grant.mode(), out);
            out.number(grant.permits()).number(grant.ttl()).number(grant.left()).number(grant.keep());
            LockFields.owner(grant.owner(), out);
            out.number(grant.before()).number(grant.ceiling());
        }
    }

    /** The session of a grant that none has. */
    public static final Peer NOBODY = HeldGrant.NOBODY;

    private GrantTable() {}

    /**
     * All grants of a member's cell, between turns; empty if they do not say everything, as when a name is kept closed.
     *
     * @param now on the cell's clock
     */
    public static Optional<List<Entry>> of(Cell cell, int algorithm, long now) {
        List<Entry> table = new ArrayList<>();
        for (Key key : cell.keys()) {
            Machine machine = cell.machine(key);
            if (machine instanceof Promising promising && promising.hasPromised()) {
                return Optional.empty();
            }
            if (key.algorithm() != algorithm || !LockKeys.isNamed(key)) {
                continue;
            }
            if (!(machine instanceof LockManager manager)) {
                return Optional.empty(); // of grants of another kind nobody knows how to carry them over
            }
            if (manager.closed()) {
                return Optional.empty();
            }
            for (HeldGrant grant : manager.grants) {
                table.add(new Entry(key, grant.peer, grant.export(now)));
            }
        }
        return Optional.of(table);
    }

    /** Reads what {@link Entry#write} wrote. */
    public static Entry read(int algorithm, WireReader in) throws WireException {
        Key key = new Key(algorithm, in.text(LockFields.MAX_NAME));
        long token = in.number();
        long hi = in.number();
        if (hi < token) {
            throw new WireException("tokens from " + token + " to " + hi);
        }
        return new Entry(
                key,
                NOBODY,
                new LockCall.Import(
                        token,
                        hi,
                        LockFields.mode(in),
                        LockFields.integer(in),
                        LockFields.ttl(in),
                        in.number(),
                        in.number(),
                        LockFields.owner(in),
                        in.number(),
                        LockFields.integer(in)));
    }
}
