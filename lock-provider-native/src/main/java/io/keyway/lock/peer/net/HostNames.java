// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Asks for the addresses of hosts, which may block, on a thread that lives only while there is something to ask. */
public final class HostNames implements AutoCloseable {
    private static final int KEPT_SECONDS = 10;

    private final ThreadPoolExecutor thread;

    /** @param name of the thread */
    public HostNames(String name) {
        thread = new ThreadPoolExecutor(1, 1, KEPT_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread made = new Thread(task, name);
            made.setDaemon(true);
            return made;
        });
        thread.allowCoreThreadTimeOut(true);
    }

    /** Tells the address, or why there is none, on the thread of this object; neither after {@link #close}. */
    public void find(String host, int port, Consumer<InetSocketAddress> found, Consumer<String> failed) {
        try {
            thread.execute(() -> {
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
            // closed: nobody waits for it
        }
    }

    /** Ends the thread; one that waits for a name server is not waited for. */
    @Override
    public void close() {
        thread.shutdownNow();
    }
}
