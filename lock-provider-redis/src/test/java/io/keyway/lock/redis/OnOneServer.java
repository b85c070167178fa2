// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.redis.server.RedisServer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Each test has a backend on a server that is empty and has counted no command yet. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class OnOneServer {
    @AutoClose
    RedisServer server;

    OneBackend open;
    HeardSignals signals;
    RedisBackend backend;

    @BeforeAll
    void startTheServer(@TempDir Path directory) throws Exception {
        server = RedisServer.start(directory);
    }

    @BeforeEach
    void open() throws Exception {
        server.ask("FLUSHALL");
        open = new OneBackend(server);
        signals = open.signals;
        backend = open.backend;
        server.ask("CONFIG", "RESETSTAT");
    }

    @AfterEach
    void close() throws Exception {
        open.close();
        assertThat(server.endless()).isEmpty();
    }
}
