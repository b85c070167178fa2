// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.election.ElectionCodec;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;

/** The bodies: between clients and the leader those of a lock service, between members those of an election. */
final class FailoverCodec implements BodyCodec {
    private final ElectionCodec elections = new ElectionCodec(FailoverKeys.ELECTION);
    private final LockCodec locks = new LockCodec(FailoverKeys.ALGORITHM);

    @Override
    public int algorithm() {
        return FailoverKeys.ALGORITHM;
    }

    @Override
    public int type(Message message) {
        return ElectionCodec.writes(message) ? elections.type(message) : locks.type(message);
    }

    @Override
    public long view(Message message) {
        return ElectionCodec.writes(message) ? 0 : locks.view(message);
    }

    @Override
    public void write(Message message, WireWriter out) {
        if (ElectionCodec.writes(message)) {
            elections.write(message, out);
        } else {
            locks.write(message, out);
        }
    }

    @Override
    public Message read(int type, long view, WireReader in) throws WireException {
        return type >= ElectionCodec.FIRST ? elections.read(type, in) : locks.read(type, view, in);
    }

    /** What a member forces: whether it was open by its seat, or a ballot. */
    static final class Records implements RecordCodec {
        private final ElectionCodec elections = new ElectionCodec(FailoverKeys.ELECTION);

        @Override
        public Key key(DurableRecord record) {
            return ElectionCodec.writes(record) ? FailoverKeys.ELECTION : FailoverKeys.LEADERSHIP;
        }

        @Override
        public void write(DurableRecord record, WireWriter out) {
            if (ElectionCodec.writes(record)) {
                elections.write(record, out.flag(false));
            } else {
                ElectionCodec.id(((Leadership.Opened) record).since(), out.flag(true));
            }
        }

        @Override
        public DurableRecord read(WireReader in) throws WireException {
            return in.flag() ? new Leadership.Opened(ElectionCodec.id(in)) : elections.record(in);
        }
    }
}
