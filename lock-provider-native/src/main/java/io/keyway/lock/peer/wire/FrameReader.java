// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Cuts the bytes of one link into frames. Until the session is open it takes short handshake frames only. */
public final class FrameReader {
    private final FrameCodec codec;
    private boolean open;
    private boolean proved;

    public FrameReader(FrameCodec codec) {
        this.codec = codec;
    }

    /** The member sent its welcome: from now on data may come. A client's reader sees the welcome by itself. */
    public void open() {
        open = true;
    }

    /** Whether the session is open, so that more than the handshake may go over this link. */
    public boolean isOpen() {
        return open;
    }

    /** The other side has proved itself: its welcome may be long. */
    public void trust() {
        proved = true;
    }

    /** The most bytes that a frame may have now, its length included: a buffer of that size never has to grow. */
    public int limit() {
        return open || proved ? FrameCodec.MAX_FRAME : FrameCodec.MAX_HANDSHAKE;
    }

    /**
     * Reads the next frame between the buffer's position and limit.
     *
     * @return null, and nothing is consumed, if the frame is not whole yet; a length over the limit is refused as soon
     *     as it is read
     * @throws WireException if no peer sends such bytes; the link is to be closed
     */
    public @Nullable SessionFrame next(ByteBuffer in) throws WireException {
        if (in.remaining() < 4) {
            return null;
        }
        long length = in.getInt(in.position()) & 0xFFFF_FFFFL;
        if (length > limit() - 4) {
            throw new WireException("a frame of " + length + " bytes; at most " + (limit() - 4));
        }
        if (in.remaining() - 4 < length) {
            return null;
        }
        int start = in.position();
        int end = start + 4 + (int) length;
        int limit = in.limit();
        SessionFrame frame;
        try {
            frame = codec.decode(in.limit(end).position(start + 4), !open);
        } finally {
            in.limit(limit).position(start);
        }
        in.position(end);
        open |= frame instanceof Welcome;
        return frame;
    }
}
