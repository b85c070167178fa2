// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.node;

import io.keyway.lock.peer.lease.LeaseCodec;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.Nonce;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.wire.BodyCodecs;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.peer.wire.FrameReader;
import io.keyway.lock.peer.wire.WireException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A connection to a host that sends whatever it is told to. Reads block until the host answers or closes. */
final class RawPeer implements AutoCloseable {
    private final SocketChannel channel;
    private final FrameCodec codec = new FrameCodec(new BodyCodecs(new LeaseCodec()));
    private final FrameReader reader = new FrameReader(codec);
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

    RawPeer(SocketAddress address) throws IOException {
        channel = SocketChannel.open(
                address instanceof UnixDomainSocketAddress ? StandardProtocolFamily.UNIX : StandardProtocolFamily.INET);
        channel.connect(address);
    }

    /** A hello that a client of this place would send, but for the wire versions. */
    static SessionFrame.Hello hello(LocalPlace place, int wireLow, int wireHigh) {
        return new SessionFrame.Hello(
                wireLow,
                wireHigh,
                LocalPlace.CLUSTER,
                place.cells().settingsHash(),
                0,
                LeaseKeys.ALGORITHM,
                SessionFrame.Role.CLIENT,
                "",
                0,
                new Incarnation(1, 2),
                new Nonce(3, 4),
                1,
                0,
                0,
                List.of(),
                null);
    }

    byte[] bytes(SessionFrame frame) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        codec.encode(frame, buffer -> {
            byte[] part = new byte[buffer.remaining()];
            buffer.get(part);
            out.writeBytes(part);
        });
        return out.toByteArray();
    }

    void send(byte... bytes) throws IOException {
        ByteBuffer out = ByteBuffer.wrap(bytes);
        while (out.hasRemaining()) {
            channel.write(out);
        }
    }

    void send(SessionFrame frame) throws IOException {
        send(bytes(frame));
    }

    /** The next frame; null if the host has closed the connection. */
    @Nullable
    SessionFrame read() throws IOException, WireException {
        ByteBuffer one = ByteBuffer.allocate(1);
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        while (channel.read(one.clear()) > 0) {
            frame.write(one.get(0));
            seen.write(one.get(0));
            SessionFrame read = reader.next(ByteBuffer.wrap(frame.toByteArray()));
            if (read != null) {
                return read;
            }
        }
        return null;
    }

    /** Everything that the host has sent. */
    byte[] seen() {
        return seen.toByteArray();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
