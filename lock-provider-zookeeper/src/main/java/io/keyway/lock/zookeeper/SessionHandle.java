// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.io.IOException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * A handle that belongs to one session: whoever closes it, what the session holds is over before the ensemble hears of
 * it.
 */
final class SessionHandle extends ZooKeeper {
    private final Session session;

    SessionHandle(
            String servers,
            int timeoutMillis,
            Watcher watcher,
            boolean canBeReadOnly,
            ZKClientConfig config,
            Session session)
            throws IOException {
        super(servers, timeoutMillis, watcher, canBeReadOnly, redial(servers, timeoutMillis, session), config);
        this.session = session;
    }

    private static HostProvider redial(String servers, int timeoutMillis, Session session) {
        HostProvider known = new StaticHostProvider(new ConnectStringParser(servers).getServerAddresses());
        return new ReconnectPolicy(known, timeoutMillis, session::dials);
    }

    /**
     * Called by {@link #close(int)} too. What it tells it tells outside of the monitor, which the other takes by
     * itself.
     */
    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized")
    public void close() throws InterruptedException {
        session.end("this client closed the session");
        super.close();
    }
}
