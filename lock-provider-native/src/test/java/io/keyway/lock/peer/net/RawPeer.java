// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.lease.LeaseCodec;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Proofs;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.wire.BodyCodecs;
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
import org.jspecify.annotations.Nullable;

/** A connection to a member that sends whatever it is told to. Reads block until the member answers or closes. */
public final class RawPeer implements AutoCloseable {
    private final Closeable connection;
    private final InputStream in;
    private final OutputStream out;
    private final FrameCodec codec = new FrameCodec(new BodyCodecs(new LeaseCodec()));
    private final FrameReader reader = new FrameReader(codec);
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

    public RawPeer(SocketAddress address) throws IOException {
        SocketChannel channel = SocketChannel.open(
                address instanceof UnixDomainSocketAddress ? StandardProtocolFamily.UNIX : StandardProtocolFamily.INET);
        channel.connect(address);
        connection = channel;
        in = Channels.newInputStream(channel);
        out = Channels.newOutputStream(channel);
    }

    /** Over a connection that stands, such as one with TLS. */
    public RawPeer(Socket socket) throws IOException {
        connection = socket;
        in = socket.getInputStream();
        out = socket.getOutputStream();
    }

    public byte[] bytes(SessionFrame frame) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        codec.encode(frame, buffer -> {
            byte[] part = new byte[buffer.remaining()];
            buffer.get(part);
            bytes.writeBytes(part);
        });
        return bytes.toByteArray();
    }

    public void send(byte... bytes) throws IOException {
        out.write(bytes);
        out.flush();
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
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        for (int next = next(); next >= 0; next = next()) {
            frame.write(next);
            SessionFrame read = reader.next(ByteBuffer.wrap(frame.toByteArray()));
            if (read != null) {
                return read;
            }
        }
        return null;
    }

    private int next() throws IOException {
        try {
            int next = in.read();
            if (next >= 0) {
                seen.write(next);
            }
            return next;
        } catch (SocketException e) {
            return -1; // the member closed with bytes of ours unread
        }
    }

    /** All that comes until the member closes, as text. */
    public String readToEnd() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int next = next(); next >= 0; next = next()) {
            all.write(next);
        }
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    /** Says that hello and proves itself; returns the member's last word, a welcome or a refusal, or null if it closed. */
    public @Nullable SessionFrame introduce(SessionFrame.Hello hello, Authenticator authenticator)
            throws IOException, WireException {
        send(hello);
        SessionFrame answer = read();
        if (!(answer instanceof SessionFrame.Challenge challenge)) {
            return answer;
        }
        send(Proofs.of(authenticator, hello, challenge));
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
