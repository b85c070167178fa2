// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Notes each byte that it gets, and sends it back. */
final class EchoServer implements AutoCloseable {
    static final int END = -1;
    static final int RESET = -2;

    private final ServerSocket listener = new ServerSocket(0, 2048, InetAddress.getLoopbackAddress());
    private final BlockingQueue<Integer> noted = new LinkedBlockingQueue<>();
    private final Semaphore echoed = new Semaphore(0);

    EchoServer() throws IOException {
        start(this::accept);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listener.getLocalSocketAddress();
    }

    /** The next byte that came; {@link #END} or {@link #RESET} for how a connection ended. */
    int next() throws InterruptedException {
        Integer next = noted.poll(Patience.seconds(30), TimeUnit.SECONDS);
        if (next == null) {
            throw new AssertionError("nothing came within 30 s");
        }
        return next;
    }

    /** Waits until so many more bytes were sent back. */
    void awaitEchoes(int count) throws InterruptedException {
        if (!echoed.tryAcquire(count, 30, TimeUnit.SECONDS)) {
            throw new AssertionError("no " + count + " bytes were sent back within 30 s");
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listener.accept();
                start(() -> echo(socket));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void echo(Socket socket) {
        try (socket) {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            for (int read = in.read(); read >= 0; read = in.read()) {
                // Before: whoever has its answer may have another connection say the next one.
                noted.add(read);
                out.write(read);
                echoed.release();
            }
            noted.add(END);
        } catch (IOException e) {
            noted.add(RESET);
        }
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "echo");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
