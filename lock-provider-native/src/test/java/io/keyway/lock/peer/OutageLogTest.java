// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An acquire that nobody answers is told in the log, though it goes on. */
class OutageLogTest {
    private static final Logger LOG = Logger.getLogger("io.keyway.lock.kit.ClientLog");

    @TempDir
    Path directory;

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            lines.add(new SimpleFormatter().formatMessage(record));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void listen() {
        LOG.addHandler(handler);
    }

    @AfterEach
    void unlisten() {
        LOG.removeHandler(handler);
    }

    @Test
    void ofACluster() throws IOException {
        String dead = "127.0.0.1:" + Ports.free();
        try (LockClient client = Locks.open("lock:native://" + dead + "/keyway?requestTimeout=200ms")) {
            CompletableFuture<Lease> waits = client.lock("x").acquireAsync();
            isTold("had no answer about the lock x", "Connection refused");
            assertThat(waits).isNotDone();
        }
    }

    @Test
    void ofThisMachine() {
        String url = "lock:native:local://" + directory + "?host=none&requestTimeout=200ms";
        try (LockClient client = Locks.open(url)) {
            CompletableFuture<Lease> waits = client.lock("x").acquireAsync();
            isTold("had no answer about the lock x", "nobody hosts " + directory);
            assertThat(waits).isNotDone();
        }
    }

    @Test
    void whenALinkIsCutAndWhenItIsHealed() throws InterruptedException {
        try (LockClient client = Locks.open("lock:native:mem://outage?clock=manual")) {
            MemoryWorld world = client.unwrap(MemoryWorld.class);
            world.cut(true);
            CompletableFuture<Lease> waits = client.lock("x").acquireAsync();
            world.advance(Duration.ofSeconds(1));
            assertThat(lines).isEmpty();
            world.advance(Duration.ofMinutes(5));
            assertThat(lines).hasSize(1);
            assertThat(lines.get(0)).contains("had no answer about the lock x");
            world.cut(false);
            world.advanceUntil(waits, Duration.ofMinutes(1)).close();
            assertThat(lines).hasSize(2);
            assertThat(lines.get(1)).contains("is answered again");
        }
    }

    private void isTold(String... parts) {
        await().atMost(Patience.of(Duration.ofSeconds(20))).until(() -> !lines.isEmpty());
        assertThat(lines.get(0)).contains(parts);
        assertThat(lines).hasSize(1);
    }
}
