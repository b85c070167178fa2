// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** All of the kit on H2 as a server. */
@Tag("soak")
@Isolated("600 leases are renewed at a time, each by a write that is synced to the disk")
class H2FullTckTest extends LockTck {

    @AutoClose
    private static H2Server server;

    @TempDir
    private static Path folder;

    @BeforeAll
    static void start() throws Exception {
        server = H2Server.start();
    }

    @Override
    protected TckSubject subject() {
        return Subjects.h2(server, folder);
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }
}
