// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.security.Tls;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.spi.TimeSource;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of a client, on a socket that does not block: in tasks of its {@link ClientLoop} only. All frames of a
 * turn leave in one write; what the system does not take waits, up to 64 MiB, until the socket can be written again.
 */
final class ClientLink implements CellLoop.Link, SocketReader.Connection {
    private static final Logger LOG = LoggerFactory.getLogger(ClientLink.class);
    /** So many full buffers are read of one connection before the others are looked at. */
    private static final int READS = 16;

    private final ClientLoop loop;
    private final CellLoop cell;
    private final long number;
    private final SocketAddress address;
    private final FrameCodec codec;
    private final FrameInput input;
    private final RateLimitedLog complaints;
    private final SocketChannel channel;
    private final SelectionKey key;
    private final @Nullable Tls security;
    private final Duration patience;
    private final OutBuffer out = new OutBuffer();
    /** Null without TLS, and before the connection stands. */
    private @Nullable ClientTls tls;

    /** Told why the connection does not come about; null once it stands, or has ended. */
    private @Nullable Consumer<String> failed;

    private TimeSource.@Nullable Scheduled timeout;
    private boolean full;
    /** Something was read, and lost. */
    private boolean torn;

    private boolean ended;
    private String whyEnded = "the other side closed the connection";

    private ClientLink(
            ClientLoop loop,
            CellLoop cell,
            long number,
            SocketAddress address,
            Duration patience,
            @Nullable Tls security,
            FrameCodec codec,
            RateLimitedLog complaints,
            Consumer<String> failed,
            SocketChannel channel)
            throws IOException {
        this.loop = loop;
        this.cell = cell;
        this.number = number;
        this.address = address;
        this.patience = patience;
        this.security = address instanceof InetSocketAddress ? security : null;
        this.codec = codec;
        this.input = new FrameInput(cell, number, codec, false);
        this.complaints = complaints;
        this.failed = failed;
        this.channel = channel;
        this.key = channel.register(loop.reader().selector(), 0, this);
    }

    /**
     * Opens that link, with TLS if there is any: the cell gets Opened when both stand. Otherwise {@code failed} gets
     * the reason, and the cell nothing, unless that would be so again and again: then the cell is told.
     *
     * @param patience for the connection, and for TLS on it
     */
    static void open(
            ClientLoop loop,
            CellLoop cell,
            long number,
            SocketAddress address,
            Duration patience,
            @Nullable Tls security,
            FrameCodec codec,
            RateLimitedLog complaints,
            Consumer<String> failed) {
        SocketChannel channel = null;
        try {
            if (address instanceof UnixDomainSocketAddress) {
                channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                channel.configureBlocking(false);
            } else {
                channel = SocketChannel.open();
                channel.configureBlocking(false);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            }
            new ClientLink(loop, cell, number, address, patience, security, codec, complaints, failed, channel)
                    .connect();
        } catch (IOException | RuntimeException e) {
            if (channel != null) {
                close(channel);
            }
            failed.accept("cannot connect to " + shown(address) + ": " + e.getMessage());
        }
    }

    private void connect() {
        try {
            if (channel.connect(address)) {
                connected();
            } else {
                interest(SelectionKey.OP_CONNECT);
                within(new ConnectException("connection timed out after " + patience.toMillis() + " ms"));
            }
        } catch (IOException | RuntimeException e) {
            failed(e);
        }
    }

    private void within(IOException orElse) {
        timeout = loop.after(patience.toNanos(), () -> failed(orElse));
    }

    private void inTime() {
        if (timeout != null) {
            timeout.cancel();
            timeout = null;
        }
    }

    private void connected() throws IOException {
        inTime();
        interest(SelectionKey.OP_READ);
        if (security != null && address instanceof InetSocketAddress to) {
            tls = new ClientTls(security.connecting(to.getHostString(), to.getPort()), out::put);
            within(new SslHandshakeTimeoutException("TLS takes too long"));
            tls.begin();
            write();
        } else {
            stands();
        }
    }

    private void stands() {
        inTime();
        failed = null;
        cell.opened(number, this);
    }

    private void interest(int operations) {
        key.interestOps(operations);
        loop.reader().changed();
    }

    @Override
    public void ready(SelectionKey selected, ByteBuffer bytes) {
        if (ended) {
            return;
        }
        try {
            checkWhole();
            if (selected.isConnectable()) {
                if (channel.finishConnect()) {
                    connected();
                }
                return;
            }
            if (selected.isWritable()) {
                write();
            }
            if (!ended && selected.isReadable()) {
                read(bytes);
            }
        } catch (IOException | RuntimeException e) {
            failed(e);
        } catch (Error e) {
            torn = true;
            throw e;
        }
    }

    private void checkWhole() throws IOException {
        if (torn) {
            throw new IOException("what came could not be taken by a thread that had too little stack or memory");
        }
    }

    private void read(ByteBuffer bytes) throws IOException {
        for (int reads = 0; reads < READS && !ended; reads++) {
            bytes.clear();
            int count = channel.read(bytes);
            if (count < 0) {
                throw new ClosedChannelException();
            }
            boolean more = !bytes.hasRemaining();
            bytes.flip();
            try {
                take(bytes);
            } catch (WireException e) {
                complain(input.complaint(e));
            }
            if (!more) {
                return;
            }
        }
    }

    private void take(ByteBuffer bytes) throws IOException, WireException {
        ClientTls with = tls;
        if (with == null) {
            input.take(bytes);
            return;
        }
        with.take(bytes, input::take);
        if (with.open()) {
            if (failed != null) {
                stands();
            }
            with.flush();
        }
        write();
        if (with.over()) {
            throw new ClosedChannelException();
        }
    }

    private void failed(Exception cause) {
        if (tls != null && security != null && failed != null && address instanceof InetSocketAddress to) {
            String why = TlsTrouble.atClient(cause, to.getHostString(), security.trust());
            if (TlsTrouble.lasting(cause)) {
                failed = lasting -> cell.unfit(number, lasting);
            }
            fail(why);
        } else if (cause instanceof ClosedChannelException) {
            end();
        } else {
            fail(TlsTrouble.general(cause));
        }
    }

    private void complain(String why) {
        complaints.say(why);
        fail(why);
    }

    private void fail(String why) {
        whyEnded = why;
        LOG.debug("link {} is closed: {}", number, why);
        end();
    }

    @Override
    public void send(Frame frame) {
        if (ended) {
            return; // it will be sent again over the next link
        }
        input.sends(frame);
        ClientTls with = tls;
        codec.encode((SessionFrame) frame, with == null ? out::put : with::put);
        if (out.size() > FrameLink.MOST_UNREAD_AT_CLIENT) {
            // What was written in one turn is not the other side's fault before it was flushed.
            flush();
        }
    }

    @Override
    public boolean isOpen() {
        return !ended && input.isOpen();
    }

    @Override
    public void flush() {
        if (ended) {
            return;
        }
        try {
            checkWhole();
            ClientTls with = tls;
            if (with != null) {
                with.flush();
            }
            if (!full) {
                write();
            }
            if (out.size() > FrameLink.MOST_UNREAD_AT_CLIENT) {
                complain("the other side does not read");
            }
        } catch (IOException e) {
            failed(e);
        }
    }

    private void write() throws IOException {
        if (out.size() == 0) {
            return;
        }
        boolean left = !out.write(channel);
        if (left != full) {
            full = left;
            interest(left ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        }
    }

    @Override
    public void hangUp() {
        flush();
        end();
    }

    @Override
    public void end() {
        if (ended) {
            return;
        }
        ended = true;
        input.end();
        inTime();
        farewell();
        close(channel);
        loop.reader().changed(); // the system closes the socket when the selector has let go of it
        Consumer<String> waiting = failed;
        failed = null;
        if (waiting != null) {
            waiting.accept("cannot connect to " + shown(address) + ": " + whyEnded);
            return;
        }
        try {
            loop.execute(() -> cell.closed(number, whyEnded));
        } catch (RejectedExecutionException e) {
            LOG.trace("the cell has gone before its link", e);
        }
    }

    private void farewell() {
        ClientTls with = tls;
        if (with != null) {
            with.end();
            try {
                write();
            } catch (IOException e) {
                LOG.debug("link {}: the message that ends it cannot be sent", number, e);
            }
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("{} cannot be closed", channel, e);
        }
    }

    static String shown(SocketAddress address) {
        return address instanceof InetSocketAddress to ? to.getHostString() + ":" + to.getPort() : address.toString();
    }
}
