// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.nio.channels.ClosedChannelException;
import java.util.function.BiConsumer;

/**
 * Keeps a connection from whoever serves it until its TLS handshake is done; one that fails ends here, with its reason.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the pipeline hears of a channel's end
final class TlsGate extends ChannelInboundHandlerAdapter {
    private final BiConsumer<Channel, Throwable> failed;
    private boolean told;

    private TlsGate(BiConsumer<Channel, Throwable> failed) {
        this.failed = failed;
    }

    static TlsGate atMember(RateLimitedLog complaints) {
        return new TlsGate((channel, cause) -> {
            if (!TlsTrouble.hungUp(cause)) {
                complaints.say(channel, TlsTrouble.atMember(cause));
            }
        });
    }

    /** @param failed gets the reason, once */
    static TlsGate atClient(BiConsumer<Channel, Throwable> failed) {
        return new TlsGate(failed);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        // Not yet: see userEventTriggered.
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent done) {
            if (done.isSuccess()) {
                context.fireChannelActive();
                context.pipeline().remove(this);
            } else {
                fail(context, done.cause());
            }
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(context, cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        fail(context, new ClosedChannelException());
    }

    private void fail(ChannelHandlerContext context, Throwable cause) {
        if (!told) {
            told = true;
            failed.accept(context.channel(), cause);
            context.close();
        }
    }
}
