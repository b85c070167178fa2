// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.spi.AbstractInterruptibleChannel;

/**
 * A socket that an interrupt of its thread closes while it connects or reads, as it would a channel:
 * {@link java.nio.channels.ClosedByInterruptException}. The socket of a channel does the same, but takes two more system
 * calls for each read with a timeout.
 */
final class InterruptibleSocket extends Socket {

    /** What an interrupt closes. */
    private final class Breaker extends AbstractInterruptibleChannel {
        void enter() {
            begin();
        }

        void leave(boolean completed) throws IOException {
            end(completed);
        }

        @Override
        protected void implCloseChannel() throws IOException {
            InterruptibleSocket.this.close();
        }
    }

    private final class Input extends FilterInputStream {
        Input(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            boolean completed = false;
            breaker.enter();
            try {
                int read = in.read(bytes, from, length);
                completed = true;
                return read;
            } finally {
                breaker.leave(completed);
            }
        }
    }

    private final Breaker breaker = new Breaker();

    @Override
    public void connect(SocketAddress address, int timeout) throws IOException {
        boolean completed = false;
        breaker.enter();
        try {
            super.connect(address, timeout);
            completed = true;
        } finally {
            breaker.leave(completed);
        }
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return new Input(super.getInputStream());
    }
}
