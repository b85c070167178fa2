// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What a socket does not take at once: nothing is lost, nothing overtakes, and nothing is copied again and again. */
class OutBufferTest {
    private static final int BACKLOG = 32 << 20;

    private final Socket socket = new Socket();
    private final OutBuffer out = new OutBuffer();

    /** Takes so much of each write, and compares it with what was put: the bytes count up. */
    private static final class Socket implements WritableByteChannel {
        private int takes;
        private long taken;

        @Override
        public int write(ByteBuffer from) {
            int count = Math.min(takes, from.remaining());
            for (int i = 0; i < count; i++) {
                if (from.get() != value(taken++)) {
                    throw new AssertionError("another byte at " + (taken - 1));
                }
            }
            return count;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }

    private long put;

    private static byte value(long at) {
        return (byte) ((at * 31) >> 3);
    }

    private void put(int count) {
        ByteBuffer bytes = ByteBuffer.allocate(count + 2).position(1);
        for (int i = 0; i < count; i++) {
            bytes.put(value(put++));
        }
        out.put(bytes.limit(bytes.position()).position(1));
        assertThat(bytes.hasRemaining()).isFalse();
    }

    @Test
    void theBytesComeInTheirOrderWhateverTheSocketTakes() throws Exception {
        for (int seed = 0; seed < 10; seed++) {
            Random random = new Random(seed);
            for (int step = 0; step < 50; step++) {
                if (random.nextInt(3) > 0) {
                    put(random.nextInt(10) == 0 ? random.nextInt(200_000) : random.nextInt(6_000));
                } else {
                    socket.takes = random.nextInt(4) == 0 ? 1 << 20 : random.nextInt(100_000);
                    boolean all = out.write(socket);
                    assertThat(all).isEqualTo(socket.taken == put);
                }
                assertThat(out.size()).isEqualTo(put - socket.taken);
            }
            socket.takes = 1 << 20;
            assertThat(out.write(socket)).isTrue();
            assertThat(socket.taken).isEqualTo(put);
        }
    }

    /** Were what is left moved at each write, these would be a million million bytes. */
    @Test
    void aBacklogIsNotMovedWhenALittleOfItIsWritten() throws Exception {
        while (put < BACKLOG) {
            put(1024);
        }
        assertThat(out.size()).isEqualTo(BACKLOG);
        socket.takes = 512;
        int writes = 1;
        while (!out.write(socket)) {
            writes++;
        }
        assertThat(socket.taken).isEqualTo(BACKLOG);
        assertThat(writes).isBetween(1000, BACKLOG / 512);
    }
}
