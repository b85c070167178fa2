// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.Deadline;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A socket that an interrupt of its thread closes while it connects or reads, as it would a channel:
 * {@link java.nio.channels.ClosedByInterruptException}. The socket of a channel does the same, but takes two more system
 * calls for each read with a timeout.
 *
 * <p>Its timeout is one for all reads together, from when it was set: a server that answers in small pieces gets no more
 * time by that. The first read has a millisecond at least, for an answer that is there already.
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
            limitRead();
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
    private @Nullable Deadline readBy;
    private boolean read;

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

    /** Gives that long to all reads that follow, until it is called again; 0 for no bound. By the thread that reads. */
    @Override
    public synchronized void setSoTimeout(int millis) throws SocketException {
        super.setSoTimeout(millis);
        readBy = millis == 0 ? null : Deadline.after(Duration.ofMillis(millis));
        read = false;
    }

    private void limitRead() throws IOException {
        Deadline end = readBy;
        if (end == null) {
            return;
        }
        if (read && end.nanos() == 0) {
            throw new SocketTimeoutException("the answer was not complete in time");
        }
        read = true;
        super.setSoTimeout(end.millis());
    }

    @Override
    public InputStream getInputStream() throws IOException {
        return new Input(super.getInputStream());
    }
}
