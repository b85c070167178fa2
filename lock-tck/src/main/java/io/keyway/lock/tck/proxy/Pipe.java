// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;

/** One direction of one connection: the bytes that have been read and not yet passed on. On the proxy's thread only. */
final class Pipe {
    /** Beyond it the sender is no longer read, so that it feels the fault as it would feel a full window. */
    private static final int BOUND = 256 * 1024;

    private record Chunk(ByteBuffer bytes, long due) {}

    private final ByteBuffer incoming;
    private final ArrayDeque<Chunk> chunks = new ArrayDeque<>();
    private int waiting;
    private boolean ended;
    private boolean closed;
    /** The sink took less than it was offered. */
    private boolean blocked;

    private long nextAllowed;

    Pipe(ByteBuffer incoming) {
        this.incoming = incoming;
    }

    boolean wantsRead(Fault fault) {
        return !ended && !fault.stalled() && waiting < BOUND;
    }

    boolean wantsWrite(Fault fault) {
        return blocked && !fault.stalled();
    }

    /**
     * When to look again, on the proxy's clock; {@link Long#MAX_VALUE} if only the sockets or a command can change
     * anything.
     */
    long due(Fault fault) {
        if (chunks.isEmpty() || blocked || fault.stalled()) {
            return Long.MAX_VALUE;
        }
        long due = chunks.element().due();
        return fault.bytesPerSecond() == 0 ? due : Math.max(due, nextAllowed);
    }

    /** Returns whether bytes have come. */
    boolean read(SocketChannel source, Fault fault, long now) throws IOException {
        incoming.clear();
        int count = source.read(incoming);
        if (count < 0) {
            ended = true;
        } else if (count > 0 && !fault.discarding()) {
            incoming.flip();
            ByteBuffer copy = ByteBuffer.allocate(count).put(incoming).flip();
            chunks.add(new Chunk(copy, now + fault.delay().toNanos()));
            waiting += count;
        }
        return count > 0;
    }

    /** Passes on what is due. Bytes that wait when a connection's direction begins to discard are thrown away too. */
    void write(SocketChannel sink, Fault fault, long now) throws IOException {
        if (fault.discarding()) {
            chunks.clear();
            waiting = 0;
        }
        blocked = false;
        while (due(fault) <= now) {
            ByteBuffer bytes = chunks.element().bytes();
            int allowed = fault.bytesPerSecond() == 0
                    ? bytes.remaining()
                    : (int) Math.min(bytes.remaining(), Math.max(1, fault.bytesPerSecond() / 100));
            ByteBuffer part = bytes.slice(bytes.position(), allowed);
            int count = sink.write(part);
            bytes.position(bytes.position() + count);
            waiting -= count;
            if (!bytes.hasRemaining()) {
                chunks.remove();
            }
            if (fault.bytesPerSecond() > 0) {
                nextAllowed = now + count * 1_000_000_000L / fault.bytesPerSecond();
            }
            blocked = count < allowed;
        }
        if (ended && chunks.isEmpty() && !closed && !fault.stalled()) {
            closed = true;
            sink.shutdownOutput();
        }
    }

    /** Whether the sender's end has been passed on. */
    boolean closed() {
        return closed;
    }
}
