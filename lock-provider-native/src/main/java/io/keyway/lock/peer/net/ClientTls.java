// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.wire.WireException;
import io.netty.handler.ssl.NotSslRecordException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;

/**
 * TLS on a client's connection: bytes of the socket to bytes of frames and back, by the JDK's engine. It has no thread,
 * socket or clock; what the engine wants to have computed is computed at once.
 */
final class ClientTls {
    /** Who takes what has been decrypted; the buffer is used again. */
    interface Plain {
        void take(ByteBuffer bytes) throws WireException;
    }

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SSLEngine engine;
    private final Consumer<ByteBuffer> wire;
    private ByteBuffer record;
    private ByteBuffer decrypted;
    /** What has come and was not read yet; ready to be read. */
    private ByteBuffer come;
    /** What is to be sent; ready to be added to. */
    private ByteBuffer unsent;

    private boolean anyRecord;
    private boolean open;
    private boolean over;

    /** @param wire takes what is to be written to the socket; the buffer is used again */
    ClientTls(SSLEngine engine, Consumer<ByteBuffer> wire) {
        this.engine = engine;
        this.wire = wire;
        int packet = engine.getSession().getPacketBufferSize();
        this.record = ByteBuffer.allocate(packet);
        this.come = ByteBuffer.allocate(packet).flip();
        this.decrypted = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize());
        this.unsent = ByteBuffer.allocate(packet);
    }

    void begin() throws SSLException {
        engine.beginHandshake();
        while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP && wrap(NOTHING)) {
            // Its hello.
        }
    }

    /** The handshake is done. */
    boolean open() {
        return open;
    }

    /** The other side has said that it sends no more. */
    boolean over() {
        return over;
    }

    /**
     * Takes what came over the socket, all of it.
     *
     * @throws SSLException why TLS ends; {@link #end} says so to the other side
     */
    void take(ByteBuffer bytes, Plain plain) throws SSLException, WireException {
        come = added(come.compact(), bytes).flip();
        if (!anyRecord && come.remaining() >= FirstBytes.ENOUGH) {
            FirstBytes kind = FirstBytes.of(come);
            if (kind != FirstBytes.TLS_HELLO && kind != FirstBytes.TLS_ALERT) {
                throw new NotSslRecordException("no TLS record but: " + kind.words());
            }
            anyRecord = true;
        }
        if (anyRecord) {
            go(plain);
        }
    }

    /** Sends these bytes with the next {@link #flush}. */
    void put(ByteBuffer plain) {
        unsent = added(unsent, plain);
    }

    void flush() throws SSLException {
        unsent.flip();
        try {
            while (unsent.hasRemaining() && !over && wrap(unsent)) {
                // Record by record.
            }
        } finally {
            unsent.compact();
        }
    }

    /** Says goodbye, or what was wrong, if that can be said. */
    void end() {
        engine.closeOutbound();
        try {
            while (!engine.isOutboundDone() && wrap(NOTHING)) {
                // Alert by alert.
            }
        } catch (SSLException e) {
            over = true; // there is nobody to tell
        }
    }

    private void go(Plain plain) throws SSLException, WireException {
        while (true) {
            HandshakeStatus next = engine.getHandshakeStatus();
            if (next == HandshakeStatus.NEED_TASK) {
                for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
                    task.run();
                }
            } else if (next == HandshakeStatus.NEED_WRAP) {
                if (!wrap(NOTHING)) {
                    return;
                }
            } else if (over || !unwrap(plain)) {
                return;
            }
        }
    }

    /** False if there is no whole record left. */
    private boolean unwrap(Plain plain) throws SSLException, WireException {
        SSLEngineResult result = engine.unwrap(come, decrypted.clear());
        look(result);
        if (result.getStatus() == Status.BUFFER_OVERFLOW) {
            decrypted = ByteBuffer.allocate(2 * decrypted.capacity());
            return true;
        }
        if (decrypted.flip().hasRemaining()) {
            plain.take(decrypted);
        }
        return result.getStatus() == Status.OK && (come.hasRemaining() || result.bytesConsumed() > 0);
    }

    /** False if nothing was made of it. */
    private boolean wrap(ByteBuffer from) throws SSLException {
        SSLEngineResult result = engine.wrap(from, record.clear());
        look(result);
        if (result.getStatus() == Status.BUFFER_OVERFLOW) {
            record = ByteBuffer.allocate(2 * record.capacity());
            return true;
        }
        if (record.flip().hasRemaining()) {
            wire.accept(record);
        }
        return result.bytesProduced() > 0;
    }

    private void look(SSLEngineResult result) {
        open |= result.getHandshakeStatus() == HandshakeStatus.FINISHED;
        over |= result.getStatus() == Status.CLOSED;
    }

    private static ByteBuffer added(ByteBuffer to, ByteBuffer bytes) {
        ByteBuffer room = to;
        if (room.remaining() < bytes.remaining()) {
            room = ByteBuffer.allocate(Math.max(2 * to.capacity(), to.position() + bytes.remaining()))
                    .put(to.flip());
        }
        return room.put(bytes);
    }
}
