// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The compatibility kit, in profile smoke, on one server. */
class RedisTckTest extends LockTck {

    @AutoClose
    private static RedisServer server;

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        server = RedisServer.start(directory);
    }

    @AfterAll
    static void nothingStays() {
        assertThat(server.endless()).isEmpty();
    }

    @Override
    protected TckSubject subject() {
        return TckSubject.of(server.url())
                .withServer(server::kill, server::restart)
                .withPause(server::pause, server::resume)
                .withFootprint(() -> (Long) server.ask("DBSIZE"));
    }
}
