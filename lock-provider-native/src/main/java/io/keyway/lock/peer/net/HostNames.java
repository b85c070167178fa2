// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Asks for the addresses of hosts, which may block, on threads that live only while there is something to ask: a name
 * that no server knows does not hold up the others.
 */
public final class HostNames implements AutoCloseable {
    private static final int KEPT_SECONDS = 10;
    private static final int MOST = 256;

    private final ThreadPoolExecutor threads;

    /** @param name of the threads */
    public HostNames(String name) {
        threads = new ThreadPoolExecutor(0, MOST, KEPT_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread made = new Thread(task, name);
            made.setDaemon(true);
            return made;
        });
    }

    /** Tells the address, or why there is none, on a thread of this object; after {@link #close} that it is closed. */
    public void find(String host, int port, Consumer<InetSocketAddress> found, Consumer<String> failed) {
        try {
            threads.execute(() -> {
                InetSocketAddress address;
                try {
                    address = new InetSocketAddress(InetAddress.getByName(host), port);
                } catch (UnknownHostException e) {
                    failed.accept("the name " + host + " has no address here");
                    return;
                }
                found.accept(address);
            });
        } catch (RejectedExecutionException e) {
            failed.accept(threads.isShutdown() ? "closed" : "too many names are being looked up");
        }
    }

    /** Ends the threads; one that waits for a name server is not waited for. */
    @Override
    public void close() {
        threads.shutdownNow();
    }
}
