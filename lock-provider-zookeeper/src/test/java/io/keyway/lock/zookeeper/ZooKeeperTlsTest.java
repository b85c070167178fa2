// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS, with Netty on the class path. */
@Tag("soak")
class ZooKeeperTlsTest {
    @TempDir
    private static Path directory;

    private static OneServer server;
    private static TlsDoor door;

    @BeforeAll
    static void beginTheServer() throws Exception {
        server = new OneServer(Files.createDirectory(directory.resolve("server")));
        door = new TlsDoor(directory, server.address());
    }

    @AfterAll
    static void endTheServer() throws Exception {
        door.close();
        server.close();
    }

    private static String url(String options) {
        return "lock:zookeeper://" + door.address() + "/keyway?tls=true&closeTimeout=2s" + options;
    }

    private static String trusting() {
        return "&tlsTrustStore=" + door.trustStore() + "&tlsTrustStorePassword=" + TlsDoor.PASSWORD;
    }

    private static String known() {
        return "&tlsKeyStore=" + door.keyStore() + "&tlsKeyStorePassword=" + TlsDoor.PASSWORD;
    }

    @Test
    void aClientThatTrustsAndIsTrustedTakesALock() throws Exception {
        try (LockClient client = Locks.open(url(trusting() + known()));
                Lease lease = client.lock("tls").acquire()) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(lease.token()).isPositive();
        }
    }

    @Test
    void aClientThatDoesNotTrustTheServerTellsItNothing() {
        try (LockClient client = Locks.open(url(known()))) {
            assertThatThrownBy(() -> client.lock("tls").tryAcquire(Duration.ofSeconds(2)))
                    .isInstanceOf(LockUnavailableException.class);
        }
    }

    @Test
    void aClientThatTheServerDoesNotTrustGetsNothing() {
        try (LockClient client = Locks.open(url(trusting()))) {
            assertThatThrownBy(() -> client.lock("tls").tryAcquire(Duration.ofSeconds(2)))
                    .isInstanceOf(LockUnavailableException.class);
        }
    }
}
