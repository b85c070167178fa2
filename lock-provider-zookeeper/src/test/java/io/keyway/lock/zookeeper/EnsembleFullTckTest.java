// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** All of the kit on an ensemble of three, whose servers are killed and started again together, too. */
@Tag("soak")
class EnsembleFullTckTest extends LockTck {
    @TempDir
    private Path directory;

    @AutoClose
    private ThreeServers servers;

    @Override
    protected TckSubject subject() throws Exception {
        servers = new ThreeServers(directory);
        return TckSubject.of(servers.url()).withServer(servers::stop, servers::restart);
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }
}
