// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.apache.zookeeper.client.HostProvider;

/**
 * Picks the server to connect to, and decides how long to wait before. ZooKeeper's client sleeps for up to a second, at
 * random, before each connection but the first, however short its session is: so it can lose a session of a second or
 * two though a server could be reached all the time. That sleep is cut short by an interrupt of its thread, which is
 * the one that asks here; what is slept instead follows the session's timeout. The client logs a warning each time.
 *
 * <p>Asked and told by one thread.
 */
final class ReconnectPolicy implements HostProvider {
    private static final long LONGEST_MILLIS = 1000;

    private final HostProvider servers;
    private final long apart;
    private final Consumer<InetSocketAddress> dials;
    private boolean connected;
    private boolean interrupted;
    private boolean usual;
    private int tried;

    /**
     * Makes one.
     *
     * @param timeoutMillis of the session; a 32nd of it is spread over before the first attempt, at most a second
     * @param dials is told each server before it is dialled
     */
    ReconnectPolicy(HostProvider servers, int timeoutMillis, Consumer<InetSocketAddress> dials) {
        this.servers = servers;
        this.dials = dials;
        this.apart = Math.max(1, Math.min(LONGEST_MILLIS, timeoutMillis / 32));
    }

    @Override
    public int size() {
        return servers.size();
    }

    @Override
    public InetSocketAddress next(long spinDelay) {
        InetSocketAddress server = pick(spinDelay);
        dials.accept(server);
        return server;
    }

    private InetSocketAddress pick(long spinDelay) {
        if (Thread.interrupted() && interrupted) {
            // The client does not sleep: an interrupt would break the connection instead.
            usual = true;
        }
        interrupted = false;
        if (usual || !connected) {
            return servers.next(spinDelay);
        }
        InetSocketAddress server = servers.next(0);
        boolean closing = false;
        try {
            // Each server is tried once after a short wait, then all again after a longer one.
            long rounds = Math.min(4, tried / size());
            tried++;
            Thread.sleep(ThreadLocalRandom.current().nextLong(Math.min(LONGEST_MILLIS, apart << rounds)));
        } catch (InterruptedException e) {
            closing = true;
        }
        interrupted = !closing;
        Thread.currentThread().interrupt();
        return server;
    }

    @Override
    public void onConnected() {
        connected = true;
        tried = 0;
        servers.onConnected();
    }

    @Override
    public boolean updateServerList(Collection<InetSocketAddress> addresses, InetSocketAddress current) {
        return servers.updateServerList(addresses, current);
    }
}
