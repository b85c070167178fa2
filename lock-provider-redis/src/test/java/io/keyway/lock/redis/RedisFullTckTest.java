// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** All of the kit on one server that is killed, started again with its data, stopped and continued. */
@Tag("soak")
class RedisFullTckTest extends LockTck {
    @TempDir
    private Path directory;

    @AutoClose
    private RedisServer server;

    @Override
    protected TckSubject subject() throws Exception {
        server = RedisServer.start(directory);
        return TckSubject.of(server.url())
                .withServer(server::kill, server::restart)
                .withPause(server::pause, server::resume)
                .withFootprint(() -> (Long) server.ask("DBSIZE"));
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }
}
