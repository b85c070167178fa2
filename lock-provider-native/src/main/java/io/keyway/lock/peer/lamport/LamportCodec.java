// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.lamport.LamportMessage.Ack;
import io.keyway.lock.peer.lamport.LamportMessage.Begin;
import io.keyway.lock.peer.lamport.LamportMessage.Break;
import io.keyway.lock.peer.lamport.LamportMessage.Broken;
import io.keyway.lock.peer.lamport.LamportMessage.End;
import io.keyway.lock.peer.lamport.LamportMessage.Release;
import io.keyway.lock.peer.lamport.LamportMessage.Request;
import io.keyway.lock.peer.lamport.LamportMessage.Reserved;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.service.LockFields;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;

/**
 * The bodies: between clients and members those of a lock service, between members those of this algorithm, the stamp
 * first.
 */
final class LamportCodec implements BodyCodec {
    /** The first type of what members say to each other. */
    private static final int FIRST = 128;

    private static final int BEGIN = FIRST;
    private static final int END = FIRST + 1;
    private static final int REQUEST = FIRST + 2;
    private static final int ACK = FIRST + 3;
    private static final int RELEASE = FIRST + 4;
    private static final int BREAK = FIRST + 5;
    private static final int BROKEN = FIRST + 6;

    private static final int MAX_REASON = 1024;

    private final LockCodec locks = new LockCodec(LamportKeys.ALGORITHM);

    @Override
    public int algorithm() {
        return LamportKeys.ALGORITHM;
    }

    @Override
    public int type(Message message) {
        if (!(message instanceof LamportMessage)) {
            return locks.type(message);
        }
        return message instanceof Begin
                ? BEGIN
                : message instanceof End
                        ? END
                        : message instanceof Request
                                ? REQUEST
                                : message instanceof Ack
                                        ? ACK
                                        : message instanceof Release
                                                ? RELEASE
                                                : message instanceof Break ? BREAK : BROKEN;
    }

    @Override
    public long view(Message message) {
        return message instanceof LamportMessage ? 0 : locks.view(message);
    }

    @Override
    public void write(Message message, WireWriter out) {
        if (!(message instanceof LamportMessage said)) {
            locks.write(message, out);
            return;
        }
        out.number(said.stamp());
        if (said instanceof Request request) {
            LockFields.owner(request.owner(), out.text(request.name()).number(request.waited()));
        } else if (said instanceof Release release) {
            out.text(release.name()).number(release.request());
        } else if (said instanceof Break request) {
            out.number(request.number()).text(request.name()).number(request.request());
            out.text(request.reason());
        } else if (said instanceof Broken broken) {
            out.number(broken.number()).flag(broken.done());
        }
    }

    @Override
    public Message read(int type, long view, WireReader in) throws WireException {
        if (type < FIRST) {
            return locks.read(type, view, in);
        }
        return switch (type) {
            case BEGIN -> new Begin(stamp(in));
            case END -> new End(stamp(in));
            case REQUEST -> request(in);
            case ACK -> new Ack(stamp(in));
            case RELEASE -> new Release(stamp(in), name(in), stamp(in));
            case BREAK -> new Break(stamp(in), in.number(), name(in), stamp(in), in.text(MAX_REASON));
            case BROKEN -> new Broken(stamp(in), in.number(), in.flag());
            default -> throw WireReader.unknown(LamportKeys.ALGORITHM, type);
        };
    }

    private static Request request(WireReader in) throws WireException {
        long stamp = stamp(in);
        String name = name(in);
        long waited = in.number();
        return new Request(stamp, name, LockFields.owner(in), waited);
    }

    private static long stamp(WireReader in) throws WireException {
        return in.number(Ticket.MAX_STAMP);
    }

    private static String name(WireReader in) throws WireException {
        return in.text(LockFields.MAX_NAME);
    }

    /** What a member forces. */
    static final class Records implements RecordCodec {
        @Override
        public Key key(DurableRecord record) {
            return LamportKeys.PROCESS;
        }

        @Override
        public void write(DurableRecord record, WireWriter out) {
            out.number(((Reserved) record).stamp());
        }

        @Override
        public DurableRecord read(WireReader in) throws WireException {
            return new Reserved(stamp(in));
        }
    }
}
