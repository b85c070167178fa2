// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.Requirements;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.spi.Deadline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What in the configuration of a server endangers locks is seen when a client is opened. */
class ServerCheckTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @AutoClose
    private static RedisServer server;

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        server = RedisServer.start(directory, "appendfsync always");
    }

    @Test
    void aServerThatEvictsIsRefusedIfExclusionIsRequired() throws Exception {
        server.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
        server.ask("CONFIG", "SET", "maxmemory", "100000000");
        try (LockClient careless = Locks.open(server.url());
                LockClient careful = Locks.open(server.url("require=exclusion:timed"))) {
            careless.lock("a").acquire().close();
            assertThatThrownBy(() -> careful.lock("a").acquire())
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("allkeys-lru");
        } finally {
            server.ask("CONFIG", "SET", "maxmemory", "0");
            server.ask("CONFIG", "SET", "maxmemory-policy", "noeviction");
        }
    }

    @Test
    void aServerThatMayLoseWhatItHasAnsweredIsWarnedOf() throws Exception {
        assertThat(dangers()).isEmpty();
        for (String sync : List.of("everysec", "no")) {
            server.ask("CONFIG", "SET", "appendfsync", sync);
            assertThat(dangers()).singleElement().asString().contains("appendfsync " + sync);
        }
        server.ask("CONFIG", "SET", "appendonly", "no");
        assertThat(dangers()).singleElement().asString().contains("no append-only file");
        server.ask("CONFIG", "SET", "appendonly", "yes");
        server.ask("CONFIG", "SET", "appendfsync", "always");
    }

    @Test
    void whoMayNotAskIsNotWarned() throws Exception {
        server.ask("CONFIG", "SET", "appendfsync", "everysec");
        server.ask("ACL", "SETUSER", "default", "-config");
        try {
            assertThat(dangers()).isEmpty();
        } finally {
            server.ask("ACL", "SETUSER", "default", "+config");
            server.ask("CONFIG", "SET", "appendfsync", "always");
        }
    }

    private static List<String> dangers() throws Exception {
        LockUrl url = LockUrl.parse(server.url());
        ServerCheck check = new ServerCheck(url, Requirements.NONE);
        List<String> dangers = new ArrayList<>();
        try (HeardSignals signals = new HeardSignals();
                SingleLink link = new SingleLink(TestSettings.of(server.url(), PATIENCE))) {
            link.start(signals, Deadline.after(PATIENCE));
            link.visitAll(
                    (name, connection) -> dangers.addAll(check.dangers(name, connection)), Deadline.after(PATIENCE));
        }
        return dangers;
    }
}
