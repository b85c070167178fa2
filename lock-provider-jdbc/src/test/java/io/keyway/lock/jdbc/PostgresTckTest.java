// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;

/** The compatibility kit, in profile smoke, on PostgreSQL. */
class PostgresTckTest extends LockTck {

    @Override
    protected TckSubject subject() throws Exception {
        PostgresServer server = PostgresServer.shared();
        return TckSubject.of(server.url("tck"))
                .withServer(server::kill, server::restart)
                .withPause(server::pause, server::resume);
    }
}
