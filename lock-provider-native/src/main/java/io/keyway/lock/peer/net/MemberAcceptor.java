// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.wire.FrameCodec;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes TCP connections for all cells of a member. A connection stays on the accepting loop, with its TLS handshake,
 * until it has said a hello; then it goes to the loop of the cell that the hello names, which answers. So nobody who
 * has not spoken takes the time of those who hold. Until it has proved itself it counts as half-open, and the time in
 * which it has to say hello is short.
 */
// The pipeline hears of a channel's end; Netty 4.1 knows the deprecated option alone.
@SuppressWarnings({"FutureReturnValueIgnored", "deprecation"})
public final class MemberAcceptor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MemberAcceptor.class);
    private static final int BACKLOG = 1024;
    /** How long a connection that ends waits for the other side to read its end. */
    static final long TLS_GOODBYE_MILLIS = 1000;

    /**
     * What strangers may take.
     *
     * @param most half-open connections in all
     * @param mostPerAddress half-open connections of one address
     * @param patience until the hello, which TLS comes before
     */
    record Limits(int most, int mostPerAddress, Duration patience) {
        static final Limits USUAL = new Limits(256, 32, Duration.ofSeconds(5));
    }

    private final EventLoop loop;
    private final List<Shard> shards;
    private final Security security;
    private final Limits limits;
    private final RateLimitedLog complaints;
    private final HalfOpenLinks halfOpen;
    private final FrameCodec codec = new FrameCodec();
    private final Channel server;
    private final AtomicLong links = new AtomicLong();

    /**
     * Listens.
     *
     * @param thread where connections are accepted and TLS shakes hands, which the caller ends after this; no cell's
     * @param shards the member's cells in order; a hello that names another one is refused by the first, once its
     *     sender has proved itself
     * @param name of the member, for the log
     * @throws IOException if the address can't be bound
     * @throws IllegalArgumentException if this security does not allow to listen there
     */
    public MemberAcceptor(
            LoopThread thread, InetSocketAddress address, List<Shard> shards, Security security, String name)
            throws IOException {
        this(thread, address, shards, security, new RateLimitedLog("a connection to " + name), Limits.USUAL);
    }

    MemberAcceptor(
            LoopThread thread,
            InetSocketAddress address,
            List<Shard> shards,
            Security security,
            RateLimitedLog complaints,
            Limits limits)
            throws IOException {
        security.checkListening(address);
        if (security.open(address)) {
            LOG.warn(
                    "anybody that reaches {} can take and break locks: there is {}",
                    shown(address),
                    security.tls().isPresent() ? "TLS without certificates of clients" : "neither a secret nor TLS");
        }
        this.loop = thread.loop();
        this.shards = List.copyOf(shards);
        this.security = security;
        this.limits = limits;
        this.complaints = complaints;
        this.halfOpen = new HalfOpenLinks(limits.most(), limits.mostPerAddress());
        ChannelFuture binding = new ServerBootstrap()
                .group(loop, loop)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new ReusedReadBuffer())
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        greet(channel);
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!binding.isSuccess()) {
            throw new IOException(
                    "cannot listen on " + shown(address) + ": "
                            + binding.cause().getMessage(),
                    binding.cause());
        }
        this.server = binding.channel();
    }

    private static String shown(InetSocketAddress address) {
        return address.getHostString() + ":" + address.getPort();
    }

    private void greet(Channel channel) {
        HalfOpenLinks.Half half = halfOpen.opened(channel);
        channel.closeFuture().addListener(closed -> onLoop(() -> halfOpen.remove(half)));
        security.tls().ifPresent(its -> {
            SslHandler handler = new SslHandler(its.accepting());
            handler.setHandshakeTimeoutMillis(limits.patience().toMillis());
            handler.setCloseNotifyFlushTimeoutMillis(TLS_GOODBYE_MILLIS);
            channel.pipeline().addLast(new TlsSniffer(complaints), handler, TlsGate.atMember(complaints));
        });
        channel.pipeline()
                .addLast(new HelloReader(this, half, complaints, security.tls().isPresent()));
    }

    /** For the accepting loop only: one buffer for all who have not said hello. */
    FrameCodec codec() {
        return codec;
    }

    Duration patience() {
        return limits.patience();
    }

    /** The connection has said hello: from now on it belongs to the cell that is meant. */
    void handOver(Channel channel, HelloReader from, HalfOpenLinks.Half half, Hello hello) {
        Shard shard = shard(hello);
        FrameLink link = FrameLink.handedOver(
                shard.cell(),
                nextLink(),
                channel,
                shard.codec(),
                complaints,
                security.secret(),
                () -> onLoop(() -> halfOpen.remove(half)));
        EventLoop to = shard.cell().loop();
        half.moves();
        channel.config().setAutoRead(false);
        channel.deregister()
                .addListener(left -> to.register(channel).addListener(arrived -> {
                    if (!arrived.isSuccess() || !half.arrived()) {
                        channel.close();
                        return;
                    }
                    channel.pipeline().replace(from, null, link);
                    link.begin(hello);
                    channel.config().setAutoRead(true);
                }));
    }

    private Shard shard(Hello hello) {
        return shards.get(hello.shard() < shards.size() ? hello.shard() : 0);
    }

    /** The cell that is meant by a client in this process. From any thread. */
    CellLoop cell(Hello hello) {
        return shard(hello).cell();
    }

    /** The number of the next link. From any thread. */
    long nextLink() {
        return links.incrementAndGet();
    }

    /** Whether it takes connections. From any thread. */
    public boolean isOpen() {
        return server.isOpen();
    }

    private void onLoop(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
        } else if (!loop.isShuttingDown()) {
            loop.execute(task);
        }
    }

    /** Where it listens, once the system has chosen. */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.localAddress();
    }

    /** How many connections have not proved themselves. Not on the loop's thread. */
    int halfOpen() {
        return loop.submit(halfOpen::size).syncUninterruptibly().getNow();
    }

    /** Takes no more connections, and ends those that have not proved themselves; others are not touched. */
    @Override
    public void close() {
        server.close().syncUninterruptibly();
        onLoop(halfOpen::closeAll);
    }
}
