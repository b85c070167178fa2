// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocal;

/**
 * One buffer for all reads of a thread: frames are taken out of it before the next read. Whoever keeps what was read
 * for longer, as TLS does with a part of a record, has it alone, and the thread goes on with another one.
 */
final class ReusedReadBuffer extends DefaultMaxMessagesRecvByteBufAllocator {
    /** More than most batches of frames; a read that fills it is followed by another one. */
    private static final int SIZE = 16 << 10;

    private static final FastThreadLocal<ByteBuf> BUFFER = new FastThreadLocal<>() {
        @Override
        protected ByteBuf initialValue() {
            return Unpooled.directBuffer(SIZE, SIZE);
        }

        @Override
        protected void onRemoval(ByteBuf buffer) {
            buffer.release();
        }
    };

    @Override
    public MaxMessageHandle newHandle() {
        return new MaxMessageHandle() {
            @Override
            public ByteBuf allocate(ByteBufAllocator alloc) {
                ByteBuf buffer = BUFFER.get();
                if (buffer.refCnt() > 1) {
                    buffer.release();
                    buffer = Unpooled.directBuffer(SIZE, SIZE);
                    BUFFER.set(buffer);
                }
                return buffer.clear().retain();
            }

            @Override
            public int guess() {
                return SIZE;
            }
        };
    }
}
