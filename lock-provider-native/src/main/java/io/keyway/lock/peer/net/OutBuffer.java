// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Bytes on their way to a socket that does not block. Each byte is copied once, into a block, and never moved: what a
 * slow reader leaves behind costs no more for each byte than one does.
 */
final class OutBuffer {
    private static final int FIRST_BYTES = 4 * 1024;
    private static final int BLOCK_BYTES = 64 * 1024;
    /** A larger block is dropped when it has been written. */
    private static final int KEPT_BYTES = 256 * 1024;

    private static final ByteBuffer NONE = ByteBuffer.allocate(0);

    /** Used again for what comes when all has been written. */
    private ByteBuffer kept = ByteBuffer.allocateDirect(FIRST_BYTES);
    /** Before the last one: ready to be written, the first of them perhaps in part already. */
    private final Deque<ByteBuffer> blocks = new ArrayDeque<>();
    /** Ready to be added to. */
    private ByteBuffer last = kept;

    private long size;

    /** Bytes that have not been written. */
    long size() {
        return size;
    }

    /** Takes these bytes, all of them or none. */
    void put(ByteBuffer bytes) {
        int more = bytes.remaining();
        int missing = more - last.remaining();
        if (missing > 0) {
            ByteBuffer next = ByteBuffer.allocateDirect(Math.max(BLOCK_BYTES, missing));
            int end = bytes.limit();
            last.put(bytes.limit(end - missing));
            bytes.limit(end);
            if (last.position() > 0) {
                blocks.add(last.flip());
            }
            last = next;
        }
        last.put(bytes);
        size += more;
    }

    /** Writes what the channel takes; false if it does not take all. */
    boolean write(WritableByteChannel channel) throws IOException {
        while (size > 0) {
            ByteBuffer block = blocks.peek();
            if (block == null) {
                block = last.flip();
                blocks.add(block);
                last = NONE;
            }
            size -= channel.write(block);
            if (block.hasRemaining()) {
                return false;
            }
            blocks.remove();
            if (block.capacity() > kept.capacity() && block.capacity() <= KEPT_BYTES) {
                kept = block;
            }
        }
        last = kept.clear();
        return true;
    }
}
