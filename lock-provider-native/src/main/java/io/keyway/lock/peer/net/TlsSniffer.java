// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;

/**
 * Looks at what comes to a TLS port before TLS does: whoever speaks otherwise gets a TLS alert, which a client of ours
 * understands, and the log says what it was.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the pipeline hears of a channel's end
final class TlsSniffer extends ByteToMessageDecoder {
    /** Fatal, unexpected_message (RFC 8446, 6.2), in a record of its own. */
    private static final byte[] ALERT = {0x15, 3, 3, 0, 2, 2, 10};

    private final RateLimitedLog complaints;
    private boolean refused;

    TlsSniffer(RateLimitedLog complaints) {
        this.complaints = complaints;
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (refused) {
            in.skipBytes(in.readableBytes());
        } else if (in.readableBytes() >= FirstBytes.ENOUGH) {
            FirstBytes kind = FirstBytes.of(in.nioBuffer());
            if (kind == FirstBytes.TLS_HELLO) {
                context.pipeline().remove(this); // what was read goes on to TLS
                return;
            }
            refused = true;
            in.skipBytes(in.readableBytes());
            complaints.say(context.channel(), kind.words() + " to a port with TLS");
            context.writeAndFlush(Unpooled.wrappedBuffer(ALERT)).addListener(ChannelFutureListener.CLOSE);
        }
    }
}
