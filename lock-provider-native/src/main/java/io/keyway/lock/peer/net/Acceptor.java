// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ServerChannel;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.concurrent.atomic.AtomicLong;

/** Takes connections for a member's cell, all on the cell's loop, and numbers them. */
// The pipeline hears of a channel's end; Netty 4.1 knows the deprecated option alone.
@SuppressWarnings({"FutureReturnValueIgnored", "deprecation"})
public final class Acceptor implements AutoCloseable {
    /** Says whether a connection may speak at all; a refusal closes it. */
    public interface Gate {
        boolean admits(Channel channel);
    }

    private final Channel server;
    private final RateLimitedLog complaints = new RateLimitedLog("a connection to this process");

    /**
     * Listens.
     *
     * @param shard where the connections are served
     * @param links the number of the last link of this cell, which all its acceptors share
     * @throws IOException if the address can't be bound
     */
    public Acceptor(
            Shard shard, AtomicLong links, Class<? extends ServerChannel> kind, SocketAddress address, Gate gate)
            throws IOException {
        ChannelFuture binding = new ServerBootstrap()
                .group(shard.cell().loop(), shard.cell().loop())
                .channel(kind)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new ReusedReadBuffer())
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (gate.admits(channel)) {
                            channel.pipeline()
                                    .addLast(FrameLink.atMember(
                                            shard.cell(), links.incrementAndGet(), channel, shard.codec(), complaints));
                        } else {
                            channel.close();
                        }
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!binding.isSuccess()) {
            throw new IOException(
                    "cannot listen on " + address + ": " + binding.cause().getMessage(), binding.cause());
        }
        this.server = binding.channel();
    }

    /** Where it listens, once the system has chosen. */
    public SocketAddress address() {
        return server.localAddress();
    }

    /** Takes no more connections; those that stand are not touched. */
    @Override
    public void close() {
        server.close().syncUninterruptibly();
    }
}
