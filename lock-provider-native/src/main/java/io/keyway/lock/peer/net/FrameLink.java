// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.session.RefuseCode;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.peer.wire.FrameReader;
import io.keyway.lock.peer.wire.WireException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection: bytes to frames and back, on the loop of its cell. Before the handshake is done a peer can make this side hold 1 KiB, afterwards one frame; what it does not read is held up to 8 MiB, then
 * the connection is closed, not the session.
 */
@SuppressWarnings("FutureReturnValueIgnored") // channelInactive hears of the end
final class FrameLink extends ChannelInboundHandlerAdapter implements CellLoop.Link {
    private static final Logger LOG = LoggerFactory.getLogger(FrameLink.class);
    private static final int MOST_UNREAD_BY_PEER = 8 << 20;

    private final CellLoop cell;
    private final long number;
    private final Channel channel;
    private final FrameCodec codec;
    private final FrameReader reader;
    private final Complaints complaints;
    private final boolean member;
    /** The handshake is over, or what ends the link has been said. */
    private boolean settled;
    /** The beginning of a frame whose end has not come; null if there is none. */
    private @Nullable ByteBuffer partial;

    private String whyClosed = "the other side closed the connection";

    private FrameLink(
            CellLoop cell, long number, Channel channel, FrameCodec codec, Complaints complaints, boolean member) {
        this.complaints = complaints;
        this.member = member;
        this.cell = cell;
        this.number = number;
        this.channel = channel;
        this.codec = codec;
        this.reader = new FrameReader(codec);
    }

    static FrameLink atMember(CellLoop cell, long number, Channel channel, FrameCodec codec, Complaints complaints) {
        return new FrameLink(cell, number, channel, codec, complaints, true);
    }

    static FrameLink atClient(CellLoop cell, long number, Channel channel, FrameCodec codec, Complaints complaints) {
        return new FrameLink(cell, number, channel, codec, complaints, false);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        cell.opened(number, this);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object read) {
        ByteBuf bytes = (ByteBuf) read;
        try {
            frames(joined(bytes.nioBuffer()));
        } catch (WireException e) {
            if (e.version() != 0 && member && !settled) {
                send(new Refuse(
                        RefuseCode.WIRE,
                        "wire version",
                        Integer.toString(SessionSettings.WIRE),
                        Integer.toString(e.version())));
                channel.flush();
            }
            complain("bytes that no peer sends: " + e.getMessage());
        } finally {
            bytes.release();
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

    private void frames(ByteBuffer in) throws WireException {
        for (SessionFrame frame = reader.next(in); frame != null; frame = reader.next(in)) {
            cell.arrived(number, frame);
        }
        if (in.hasRemaining()) {
            partial = ByteBuffer.allocate(in.remaining()).put(in).flip();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        partial = null;
        cell.closed(number, whyClosed);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(String.valueOf(cause.getMessage()));
    }

    private void complain(String why) {
        if (channel.isActive()) {
            complaints.say(why);
        }
        fail(why);
    }

    private void fail(String why) {
        settled = true;
        whyClosed = why;
        LOG.debug("link {} is closed: {}", number, why);
        channel.close();
    }

    @Override
    public void send(Frame frame) {
        if (frame instanceof Welcome) {
            settled = true;
            reader.open();
        } else if (frame instanceof Proof) {
            reader.trust();
        } else if (frame instanceof Refuse refuse) {
            settled = true;
            if (refuse.code().lasting()) {
                complaints.say("refused: " + refuse.code() + " " + refuse.field() + " (" + refuse.here() + " here, "
                        + refuse.there() + " there)");
            }
        }
        ByteBuf out = channel.alloc().buffer();
        codec.encode((SessionFrame) frame, out::writeBytes);
        channel.write(out, channel.voidPromise());
        ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
        if (waiting != null && waiting.totalPendingWriteBytes() > MOST_UNREAD_BY_PEER) {
            complain("the other side does not read");
        }
    }

    @Override
    public void flush() {
        channel.flush();
    }

    @Override
    public void hangUp() {
        if (member && !settled) {
            complaints.say("it did not prove itself in time, in order, or as one of the last to come");
        }
        settled = true;
        channel.flush();
        channel.close();
    }
}
