// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.session.RefuseCode;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Wait;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.peer.wire.WireException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection: bytes to frames and back, on the loop of its cell. Before the handshake is done a peer can make this
 * side hold 1 KiB, afterwards one frame; what a client does not read is held up to 8 MiB, then the connection is
 * closed, not the session.
 */
@SuppressWarnings("FutureReturnValueIgnored") // channelInactive hears of the end
final class FrameLink extends ChannelInboundHandlerAdapter implements CellLoop.Link {
    private static final Logger LOG = LoggerFactory.getLogger(FrameLink.class);
    private static final int USUAL_BATCH = 256;
    private static final int LARGEST_KEPT = 4 << 10;
    private static final int LARGEST_BATCH = 64 << 10;
    /** Of a client that does not read. */
    private static final int MOST_UNREAD_AT_MEMBER = 8 << 20;
    /** Of a member that does not read what its own client asks for: the session soon finds the link too silent. */
    static final int MOST_UNREAD_AT_CLIENT = 64 << 20;

    private final CellLoop cell;
    private final long number;
    private final Channel channel;
    private final FrameCodec codec;
    private final FrameInput input;
    private final RateLimitedLog complaints;
    private final Consumer<ByteBuffer> appending = this::append;
    private final boolean member;
    /** Whether the other side has to prove that it knows a secret. */
    private final boolean secret;

    private final Runnable whenSettled;
    /** The handshake is over, or what ends the link has been said. */
    private boolean settled;
    /** This member has proved itself; the other side has not yet. */
    private boolean challenged;

    /** The frames since the last flush; kept for the next ones when the socket has taken them. */
    private ByteBuf batch = Unpooled.EMPTY_BUFFER;

    private boolean written;
    private String whyClosed = "the other side closed the connection";

    private FrameLink(
            CellLoop cell,
            long number,
            Channel channel,
            FrameCodec codec,
            RateLimitedLog complaints,
            boolean member,
            boolean secret,
            Runnable whenSettled) {
        this.secret = secret;
        this.whenSettled = whenSettled;
        this.complaints = complaints;
        this.member = member;
        this.cell = cell;
        this.number = number;
        this.channel = channel;
        this.codec = codec;
        this.input = new FrameInput(cell, number, codec, member);
    }

    static FrameLink atMember(
            CellLoop cell, long number, Channel channel, FrameCodec codec, RateLimitedLog complaints) {
        return new FrameLink(cell, number, channel, codec, complaints, true, false, () -> {});
    }

    static FrameLink atClient(
            CellLoop cell, long number, Channel channel, FrameCodec codec, RateLimitedLog complaints) {
        return new FrameLink(cell, number, channel, codec, complaints, false, false, () -> {});
    }

    /**
     * A link whose hello was read elsewhere.
     *
     * @param secret whether the other side has to prove that it knows one
     * @param settled told when it has proved itself, or is refused
     */
    static FrameLink handedOver(
            CellLoop cell,
            long number,
            Channel channel,
            FrameCodec codec,
            RateLimitedLog complaints,
            boolean secret,
            Runnable settled) {
        return new FrameLink(cell, number, channel, codec, complaints, true, secret, settled);
    }

    /** On the cell's loop: the link is up, and this came over it. */
    void begin(SessionFrame hello) {
        input.begun();
        cell.opened(number, this);
        cell.arrived(number, hello);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        cell.opened(number, this);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object read) {
        ByteBuf bytes = (ByteBuf) read;
        try {
            input.take(bytes.nioBuffer());
        } catch (WireException e) {
            if (e.version() != 0 && member && !settled) {
                send(new Refuse(
                        RefuseCode.WIRE,
                        "wire version",
                        Integer.toString(SessionSettings.WIRE),
                        Integer.toString(e.version())));
                flush();
            }
            complain(input.complaint(e));
        } finally {
            bytes.release();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        batch.release();
        batch = Unpooled.EMPTY_BUFFER;
        written = false;
        input.end();
        if (challenged && secret && !settled) {
            // A member that ends, or that is connected the other way round by now, does so, too.
            complaints.note(
                    channel,
                    "it hung up when this member had proved itself: it has ended, has another connection, or another"
                            + " secret");
        }
        cell.closed(number, whyClosed);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event == HalfOpenLinks.Half.EVICTED && !settled) {
            complain(HalfOpenLinks.Half.EVICTED.words());
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(TlsTrouble.general(cause));
    }

    private void complain(String why) {
        if (channel.isActive()) {
            complaints.say(channel, why);
        }
        fail(why);
    }

    private void fail(String why) {
        settle();
        whyClosed = why;
        LOG.debug("link {} is closed: {}", number, why);
        channel.close();
    }

    @Override
    public void send(Frame frame) {
        input.sends(frame);
        if (frame instanceof Welcome || frame instanceof Wait) {
            settle();
        } else if (frame instanceof Challenge) {
            challenged = true;
        } else if (frame instanceof Refuse refuse) {
            settle();
            if (refuse.code().lasting()) {
                complaints.say(channel, refused(refuse));
            }
        }
        if (!channel.isActive()) {
            return; // it will be sent again over the next link
        }
        codec.encode((SessionFrame) frame, appending);
        if (batch.readableBytes() >= LARGEST_BATCH) {
            write();
            checkUnread();
        }
    }

    private void append(ByteBuffer bytes) {
        if (written) {
            written = false;
            if (batch.refCnt() > 1 || batch.capacity() > LARGEST_KEPT) {
                batch.release(); // the socket has not taken all of it yet, or it is larger than most
                batch = Unpooled.EMPTY_BUFFER;
            }
            batch.clear();
        }
        if (batch.capacity() == 0) {
            batch = channel.alloc().directBuffer(USUAL_BATCH);
        }
        batch.writeBytes(bytes);
    }

    private void write() {
        if (batch.isReadable() && !written) {
            written = true;
            channel.write(batch.retain(), channel.voidPromise());
        }
    }

    private void checkUnread() {
        if (tooMuchUnread()) {
            // What was written in one turn is not the other side's fault before it was flushed; and some of it gets
            // through.
            channel.flush();
            if (tooMuchUnread()) {
                complain("the other side does not read");
            }
        }
    }

    private boolean tooMuchUnread() {
        ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
        return waiting != null
                && waiting.totalPendingWriteBytes() > (member ? MOST_UNREAD_AT_MEMBER : MOST_UNREAD_AT_CLIENT);
    }

    private static String refused(Refuse refuse) {
        if (refuse.code() == RefuseCode.NOT_AUTHENTICATED) {
            return "refused: it did not prove that it knows the secret";
        }
        return "refused: " + refuse.code() + " " + refuse.field() + " (" + refuse.here() + " here, " + refuse.there()
                + " there)";
    }

    private void settle() {
        if (!settled) {
            settled = true;
            whenSettled.run();
        }
    }

    @Override
    public boolean isOpen() {
        return input.isOpen();
    }

    @Override
    public void flush() {
        write();
        channel.flush();
        // With TLS what was written counts only now.
        checkUnread();
    }

    @Override
    public String origin() {
        return RateLimitedLog.address(channel);
    }

    @Override
    public void hangUp() {
        if (member && !settled) {
            complaints.say(channel, "it had not proved itself: it was too slow, or said something else instead");
        }
        settle();
        write();
        channel.flush();
        channel.close();
    }
}
