// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Delays;
import io.keyway.lock.spi.TimeSource;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A socket that an interrupt of its thread closes while it connects, reads or writes, as it would a channel:
 * {@link java.nio.channels.ClosedByInterruptException}. The socket of a channel does the same, but takes two more
 * system calls for each read with a timeout.
 *
 * <p>Its timeout is one for all reads and writes together, from when it was set: a server that answers in small pieces
 * gets no more time by that. The first read has a millisecond at least, for an answer that is there already. A write
 * has no timeout of its own in the JDK: the socket is closed when its time is over. The first {@value #AT_ONCE} bytes
 * are not watched, since they go to a buffer of the operating system that is empty: all that was written before the
 * timeout was set has been answered.
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

    private final class Output extends OutputStream {
        private final OutputStream out;

        Output(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            written += length;
            if (written <= AT_ONCE) {
                out.write(bytes, from, length);
            } else {
                writeInTime(bytes, from, length);
            }
        }

        private void writeInTime(byte[] bytes, int from, int length) throws IOException {
            Deadline end = endsBy;
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            CompletableFuture<Boolean> closing = done.exceptionally(timeout -> closeLate());
            TimeSource.Scheduled late = end == null
                    ? () -> {}
                    : Delays.after(end.nanos(), () -> done.completeExceptionally(new TimeoutException()));
            boolean completed = false;
            breaker.enter();
            try {
                out.write(bytes, from, length);
                completed = true;
            } catch (SocketException e) {
                throw done.isCompletedExceptionally() ? tooLate(e) : e;
            } finally {
                breaker.leave(completed);
                late.cancel();
                done.complete(true);
            }
            if (!closing.join()) {
                throw tooLate(null);
            }
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }
    }

    /** The smallest that the buffer for a connection is anywhere. */
    static final int AT_ONCE = 4096;

    private final Breaker breaker = new Breaker();
    private @Nullable Deadline endsBy;
    private boolean read;
    private long written;

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

    /**
     * Gives that long to all reads and writes that follow, until it is called again; 0 for no bound. By the thread that
     * reads and writes.
     */
    @Override
    public synchronized void setSoTimeout(int millis) throws SocketException {
        super.setSoTimeout(millis);
        endsBy = millis == 0 ? null : Deadline.after(Duration.ofMillis(millis));
        read = false;
        written = 0;
    }

    private void limitRead() throws IOException {
        Deadline end = endsBy;
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

    @Override
    public OutputStream getOutputStream() throws IOException {
        return new Output(super.getOutputStream());
    }

    private boolean closeLate() {
        try {
            close();
        } catch (IOException e) {
            // It is of no use any more.
        }
        return false;
    }

    private static SocketTimeoutException tooLate(@Nullable IOException cause) {
        SocketTimeoutException late = new SocketTimeoutException("the request could not be sent in time");
        late.initCause(cause);
        return late;
    }
}
