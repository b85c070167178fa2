// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.security.Tls;
import io.keyway.lock.peer.wire.FrameCodec;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslHandler;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Opens connections for a member's cell that dials another member, on the cell's loop. */
@SuppressWarnings("FutureReturnValueIgnored") // listeners hear of the end
public final class Connector {
    private final CellLoop cell;
    private final FrameCodec codec;
    private final Duration timeout;
    private final @Nullable Tls tls;
    private final RateLimitedLog complaints;

    /**
     * A connector of that cell.
     *
     * @param timeout of a connection with its TLS handshake
     * @param about what is connected, for the log, such as "the connection to a:7400"
     */
    public Connector(CellLoop cell, FrameCodec codec, Duration timeout, Optional<Tls> tls, String about) {
        this.cell = cell;
        this.codec = codec;
        this.timeout = timeout;
        this.tls = tls.orElse(null);
        this.complaints = new RateLimitedLog(about);
    }

    /**
     * Opens that link over TCP, and TLS if there is any: the cell gets Opened when both stand. Otherwise {@code failed}
     * gets the reason, on the loop's thread, and the cell nothing. From any thread.
     *
     * @param address resolved, since that may block; its host name is what a certificate must be for
     */
    public void connect(long link, InetSocketAddress address, Consumer<String> failed) {
        if (address.isUnresolved()) {
            failed.accept("the address of " + address.getHostString() + " is not known");
            return;
        }
        if (cell.loop().isShuttingDown()) {
            // It was closed while the address was looked up: nobody waits for an answer.
            return;
        }
        Once once = new Once(failed);
        Bootstrap bootstrap = new Bootstrap()
                // The address is given; a resolver would also leave a thread of its own behind.
                .disableResolver()
                .group(cell.loop())
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis())
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (tls != null) {
                            encrypt(channel.pipeline(), link, tls, address, once);
                        }
                        channel.pipeline().addLast(FrameLink.atClient(cell, link, channel, codec, complaints));
                    }
                });
        ChannelFuture connecting = bootstrap.connect(address);
        connecting.addListener(done -> {
            if (!done.isSuccess()) {
                once.accept("cannot connect to " + ClientLink.shown(address) + ": " + reason(done.cause()));
            }
        });
    }

    private int millis() {
        return (int) Math.min(Integer.MAX_VALUE, timeout.toMillis());
    }

    private void encrypt(ChannelPipeline pipeline, long link, Tls with, InetSocketAddress to, Consumer<String> failed) {
        SslHandler handler = new SslHandler(with.connecting(to.getHostString(), to.getPort()));
        handler.setHandshakeTimeoutMillis(millis());
        handler.setCloseNotifyFlushTimeoutMillis(MemberAcceptor.TLS_GOODBYE_MILLIS);
        pipeline.addLast(handler, TlsGate.atClient((channel, cause) -> {
            String why = "cannot connect to " + ClientLink.shown(to) + ": "
                    + TlsTrouble.atClient(cause, to.getHostString(), with.trust());
            if (TlsTrouble.lasting(cause)) {
                cell.unfit(link, why);
            } else {
                failed.accept(why);
            }
        }));
    }

    /** Without the address, which Netty adds in a way of its own. */
    private static String reason(Throwable cause) {
        return String.valueOf((cause instanceof ConnectException && cause.getCause() != null ? cause.getCause() : cause)
                .getMessage());
    }

    /** Of the connection and of TLS on it, the first to fail is heard. On the loop's thread. */
    private static final class Once implements Consumer<String> {
        private final Consumer<String> failed;
        private boolean told;

        Once(Consumer<String> failed) {
            this.failed = failed;
        }

        @Override
        public void accept(String why) {
            if (!told) {
                told = true;
                failed.accept(why);
            }
        }
    }
}
