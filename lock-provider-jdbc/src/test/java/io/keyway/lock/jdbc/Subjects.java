// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.MariaDbServer;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.TckSubject;
import java.nio.file.Path;
import java.util.List;

/** What the compatibility kit is given: databases behind proxies, with what can be done to them. */
final class Subjects {

    private Subjects() {}

    /** PostgreSQL, in a schema of its own; {@code options} come after the driver's. */
    static TckSubject postgres(String options) throws Exception {
        PostgresServer server = PostgresServer.shared();
        return behindProxies(server.url("tck") + options, server.port())
                .withServer(server::kill, server::restart)
                .withPause(server::pause, server::resume);
    }

    /** H2 as a server of its own, with a database in files in that folder. */
    static TckSubject h2(H2Server server, Path folder) {
        return behindProxies(server.inFiles(folder), server.port())
                .withServer(server::kill, server::restart)
                .withPause(server::pause, server::resume);
    }

    /** MariaDB, in a database of its own. */
    static TckSubject mariaDb() throws Exception {
        MariaDbServer server = MariaDbServer.shared();
        return behindProxies(server.url("tck"), server.port())
                .withServer(server::kill, server::restart)
                .withPause(server::pause, server::resume);
    }

    private static TckSubject behindProxies(String url, int port) {
        String server = "127.0.0.1:" + port;
        return TckSubject.of(url)
                .withServers(List.of(server))
                .withAddressMap(map -> url.replace(server, map.get(server)));
    }
}
