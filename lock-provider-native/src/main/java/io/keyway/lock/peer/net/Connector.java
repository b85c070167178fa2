// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.wire.FrameCodec;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.function.Consumer;

/** Opens connections for a client's cell, on the cell's loop. */
public final class Connector {
    private final CellLoop cell;
    private final FrameCodec codec;
    private final Duration timeout;
    private final Complaints complaints = new Complaints("the connection to the host");

    public Connector(CellLoop cell, FrameCodec codec, Duration timeout) {
        this.cell = cell;
        this.codec = codec;
        this.timeout = timeout;
    }

    /** Opens that link: the cell gets Opened. Otherwise {@code failed} gets the reason, on the loop's thread, and the cell nothing. From any thread. */
    public void connect(long link, Class<? extends Channel> kind, SocketAddress address, Consumer<String> failed) {
        ChannelFuture connecting = new Bootstrap()
                // The address is given; a resolver would also leave a thread of its own behind.
                .disableResolver()
                .group(cell.loop())
                .channel(kind)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Math.min(Integer.MAX_VALUE, timeout.toMillis()))
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(FrameLink.atClient(cell, link, channel, codec, complaints));
                    }
                })
                .connect(address);
        connecting.addListener(done -> {
            if (!done.isSuccess()) {
                failed.accept(
                        "cannot connect to " + address + ": " + done.cause().getMessage());
            }
        });
    }
}
