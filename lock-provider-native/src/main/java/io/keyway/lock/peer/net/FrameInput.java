// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.peer.wire.FrameReader;
import io.keyway.lock.peer.wire.WireException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What comes over one connection: bytes to frames, for the cell that it belongs to, and a word for bytes that no peer
 * sends. Before the handshake is done it holds 1 KiB at most, afterwards one frame.
 */
final class FrameInput {
    private final CellLoop cell;
    private final long number;
    private final FrameReader reader;
    private final boolean member;
    /** What came before the first frame. */
    private FirstBytes first = FirstBytes.FRAME;

    private boolean anyFrame;
    /** The beginning of a frame whose end has not come; null if there is none. */
    private @Nullable ByteBuffer partial;

    /**
     * An input that has got nothing.
     *
     * @param number of the link
     * @param member true at the end that was connected to
     */
    FrameInput(CellLoop cell, long number, FrameCodec codec, boolean member) {
        this.cell = cell;
        this.number = number;
        this.reader = new FrameReader(codec);
        this.member = member;
    }

    /** The first frame was read elsewhere. */
    void begun() {
        anyFrame = true;
    }

    /** Whether the welcome was said. */
    boolean isOpen() {
        return reader.isOpen();
    }

    /** What this end says decides how long the answer may be. */
    void sends(Frame frame) {
        if (frame instanceof Welcome) {
            reader.open();
        } else if (frame instanceof Proof) {
            reader.trust();
        }
    }

    /**
     * Takes all that has come; the buffer may be used again.
     *
     * @throws WireException if no peer sends such bytes; the connection is to be closed
     */
    void take(ByteBuffer fresh) throws WireException {
        ByteBuffer in = joined(fresh);
        if (!anyFrame) {
            first = FirstBytes.of(in);
        }
        for (SessionFrame frame = reader.next(in); frame != null; frame = reader.next(in)) {
            anyFrame = true;
            first = FirstBytes.FRAME;
            cell.arrived(number, frame);
        }
        if (in.hasRemaining()) {
            partial = ByteBuffer.allocate(in.remaining()).put(in).flip();
        }
    }

    private ByteBuffer joined(ByteBuffer fresh) {
        ByteBuffer before = partial;
        if (before == null) {
            return fresh;
        }
        partial = null;
        return ByteBuffer.allocate(before.remaining() + fresh.remaining())
                .put(before)
                .put(fresh)
                .flip();
    }

    /** Says what is wrong with what came; a client's cell hears of it first if the other end wants TLS. */
    String complaint(WireException e) {
        boolean wantsTls = first == FirstBytes.TLS_ALERT && !member;
        String strange = wantsTls
                ? "the member speaks TLS and this end does not: add tls=true, or what else the members' administrator "
                        + "says"
                : (member ? "" : "no member answers there: ") + first.words();
        if (wantsTls) {
            cell.unfit(number, strange);
        }
        return first == FirstBytes.FRAME ? "bytes that no peer sends: " + e.getMessage() : strange;
    }

    /** Nothing more comes. */
    void end() {
        partial = null;
    }
}
