// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.session.RefuseCode;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.peer.wire.FrameReader;
import io.keyway.lock.peer.wire.WireException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the hello of one connection, and holds at most 1 KiB of it. Whoever begins otherwise is told so in its own
 * language, if that is known.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the pipeline hears of a channel's end
final class HelloReader extends ChannelInboundHandlerAdapter {
    private static final byte[] NOT_HTTP = """
            HTTP/1.1 400 Bad Request\r
            Content-Type: text/plain\r
            Connection: close\r
            \r
            This is the port of a Keyway member, which does not speak HTTP.
            """.getBytes(StandardCharsets.US_ASCII);

    private final MemberAcceptor acceptor;
    private final HalfOpenLinks.Half half;
    private final RateLimitedLog complaints;
    private final boolean tls;
    private final FrameCodec codec;
    private final FrameReader reader;
    private ByteBuffer partial = ByteBuffer.allocate(0);
    /** A hello was read, or the end was said. */
    private boolean done;

    private @Nullable Future<?> patience;

    HelloReader(MemberAcceptor acceptor, HalfOpenLinks.Half half, RateLimitedLog complaints, boolean tls) {
        this.acceptor = acceptor;
        this.half = half;
        this.codec = acceptor.codec();
        this.reader = new FrameReader(codec);
        this.complaints = complaints;
        this.tls = tls;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object read) {
        ByteBuf bytes = (ByteBuf) read;
        try {
            if (done) {
                half.doom(); // it does not wait for an answer
            } else {
                take(context.channel(), bytes);
            }
        } finally {
            bytes.release();
        }
    }

    private void take(Channel channel, ByteBuf bytes) {
        int room = FrameCodec.MAX_HANDSHAKE - partial.remaining();
        if (bytes.readableBytes() > room) {
            // Enough to see what it is; a hello is shorter.
            bytes = bytes.readSlice(room);
        }
        ByteBuffer all = ByteBuffer.allocate(partial.remaining() + bytes.readableBytes())
                .put(partial)
                .put(bytes.nioBuffer())
                .flip();
        ByteBuffer first = all.duplicate();
        try {
            SessionFrame frame = reader.next(all);
            if (frame == null) {
                partial = all;
            } else if (!(frame instanceof Hello hello)) {
                end(channel, "it says no hello first");
            } else if (all.hasRemaining()) {
                end(channel, "it does not wait for the answer to its hello");
            } else {
                done();
                acceptor.handOver(channel, this, half, hello);
            }
        } catch (WireException e) {
            end(channel, said(channel, first, e));
        }
    }

    /** Answers what can be answered, and says what is wrong. */
    private String said(Channel channel, ByteBuffer first, WireException e) {
        FirstBytes kind = FirstBytes.of(first);
        if (e.version() != 0) {
            send(channel, RefuseCode.WIRE, "wire version", SessionSettings.WIRE + "", e.version() + "");
            return "wire version " + e.version() + "; this member speaks " + SessionSettings.WIRE;
        }
        if (kind == FirstBytes.TLS_HELLO) {
            send(channel, RefuseCode.PROTOCOL, "", "", "");
            return tls ? "it speaks TLS within TLS" : "it speaks TLS and this member does not; see the tls options";
        }
        if (kind == FirstBytes.HTTP_REQUEST) {
            channel.writeAndFlush(Unpooled.wrappedBuffer(NOT_HTTP));
        }
        return kind == FirstBytes.FRAME ? "bytes that no peer sends: " + e.getMessage() : kind.words();
    }

    private void send(Channel channel, RefuseCode code, String field, String here, String there) {
        ByteBuf out = channel.alloc().buffer();
        codec.encode(new Refuse(code, field, here, there), out::writeBytes);
        channel.writeAndFlush(out);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        Channel channel = context.channel();
        patience = channel.eventLoop()
                .schedule(
                        () -> end(channel, "it did not say hello in time"),
                        acceptor.patience().toNanos(),
                        TimeUnit.NANOSECONDS);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event == HalfOpenLinks.Half.EVICTED) {
            end(context.channel(), HalfOpenLinks.Half.EVICTED.words());
        }
    }

    private void end(Channel channel, String why) {
        if (!done) {
            done();
            complaints.say(channel, why);
            channel.close();
        }
    }

    private void done() {
        done = true;
        partial = ByteBuffer.allocate(0);
        if (patience != null) {
            patience.cancel(false);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        done();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        end(context.channel(), TlsTrouble.atMember(cause));
    }
}
