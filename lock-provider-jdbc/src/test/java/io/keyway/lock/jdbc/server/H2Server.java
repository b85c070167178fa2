// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc.server;

import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.tools.Server;

/** H2 as a server on the loopback address, with databases in memory; all test classes of a JVM share one. */
public final class H2Server {

    private static final AtomicInteger DATABASES = new AtomicInteger();
    private static int port;

    private H2Server() {}

    /** The URL of clients that keep locks in a database of its own. */
    public static synchronized String url(String name) throws IOException, SQLException {
        if (port == 0) {
            System.setProperty("h2.bindAddress", "127.0.0.1");
            int free = Ports.free();
            Server.createTcpServer("-tcpPort", Integer.toString(free), "-ifNotExists", "-tcpDaemon")
                    .start();
            port = free;
        }
        return "lock:jdbc:h2:tcp://127.0.0.1:" + port + "/mem:" + name + DATABASES.incrementAndGet()
                + ";DB_CLOSE_DELAY=-1";
    }
}
