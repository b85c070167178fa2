// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Proofs;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.peer.wire.FrameReader;
import io.keyway.lock.peer.wire.WireException;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A connection to a member that sends whatever it is told to. Reads block until the member answers or closes. */
public final class RawPeer implements AutoCloseable {
    private final Closeable connection;
    private final InputStream in;
    private final OutputStream out;
    private final ReentrantLock sending = new ReentrantLock();
    private final FrameReader reader = new FrameReader(codec());
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();
    private ByteBuffer unread = ByteBuffer.allocate(0);
    private SessionFrame.@Nullable Challenge challenge;

    public RawPeer(SocketAddress address) throws IOException {
        SocketChannel channel = SocketChannel.open(
                address instanceof UnixDomainSocketAddress ? StandardProtocolFamily.UNIX : StandardProtocolFamily.INET);
        channel.connect(address);
        connection = channel;
        in = Channels.newInputStream(channel);
        out = Channels.newOutputStream(channel);
    }

    private static FrameCodec codec() {
        return new FrameCodec(new LockCodec(LeaseKeys.ALGORITHM));
    }

    /** Over a connection that stands, such as one with TLS. */
    public RawPeer(Socket socket) throws IOException {
        connection = socket;
        in = socket.getInputStream();
        out = socket.getOutputStream();
    }

    /** From any thread. */
    public static byte[] bytes(SessionFrame frame) {
        FrameCodec codec = codec();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        codec.encode(frame, buffer -> {
            byte[] part = new byte[buffer.remaining()];
            buffer.get(part);
            bytes.writeBytes(part);
        });
        return bytes.toByteArray();
    }

    /** From any thread; these bytes go together. */
    public void send(byte... bytes) throws IOException {
        sending.lock();
        try {
            out.write(bytes);
            out.flush();
        } finally {
            sending.unlock();
        }
    }

    public void send(SessionFrame frame) throws IOException {
        send(bytes(frame));
    }

    /** Sends bytes to somebody who may have closed already. */
    public void trySend(byte... bytes) {
        try {
            send(bytes);
        } catch (IOException e) {
            // What counts is how the other side ended.
        }
    }

    /** The next frame; null if the member has closed the connection. */
    public @Nullable SessionFrame read() throws IOException, WireException {
        SessionFrame frame = reader.next(unread);
        while (frame == null && more()) {
            frame = reader.next(unread);
        }
        return frame;
    }

    /** Waits for more bytes; false at the end. */
    private boolean more() throws IOException {
        byte[] some = new byte[8192];
        int count;
        try {
            count = in.read(some);
        } catch (SocketException e) {
            return false; // the member closed with bytes of ours unread
        }
        if (count <= 0) {
            return false;
        }
        seen.write(some, 0, count);
        unread = ByteBuffer.allocate(unread.remaining() + count)
                .put(unread)
                .put(some, 0, count)
                .flip();
        return true;
    }

    /** All that comes until the member closes, as text. */
    public String readToEnd() throws IOException {
        while (more()) {
            // On to the end.
        }
        byte[] rest = new byte[unread.remaining()];
        unread.get(rest);
        return new String(rest, StandardCharsets.ISO_8859_1);
    }

    /** What the member answered to the hello. */
    public SessionFrame.Challenge challenge() {
        if (challenge == null) {
            throw new IllegalStateException("no challenge has come");
        }
        return challenge;
    }

    /**
     * Says that hello and proves itself; returns the member's last word, a welcome or a refusal, or null if it closed.
     */
    public @Nullable SessionFrame introduce(SessionFrame.Hello hello, Authenticator authenticator)
            throws IOException, WireException {
        send(hello);
        SessionFrame answer = read();
        if (!(answer instanceof SessionFrame.Challenge fair)) {
            return answer;
        }
        challenge = fair;
        send(Proofs.of(authenticator, hello, fair));
        reader.trust();
        return read();
    }

    /** Everything that the member has sent. */
    public byte[] seen() {
        return seen.toByteArray();
    }

    @Override
    public void close() throws IOException {
        connection.close();
    }
}
