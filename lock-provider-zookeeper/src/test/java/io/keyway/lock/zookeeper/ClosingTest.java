// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.tck.proxy.Ports;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How long a client takes that cannot reach its ensemble, and what it says. */
class ClosingTest {
    @AutoClose
    private static OneServer server;

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        server = new OneServer(directory);
    }

    @Test
    void aMuteEnsembleKeepsNobodyFromClosing() throws Exception {
        ZKClientConfig patient = new PlainConfig();
        patient.setProperty(ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT, "60000");
        String[] address = server.address().split(":", -1);
        try (FaultProxy proxy = FaultProxy.to(new InetSocketAddress(address[0], Integer.parseInt(address[1])))) {
            LockClient client = Locks.open(
                    "lock:zookeeper://127.0.0.1:" + proxy.address().getPort()
                            + "/keyway?ttl=10m&closeTimeout=500ms&sessions=4",
                    ClientOptions.defaults().with(ZooKeeperOptions.CLIENT_CONFIG, patient));
            for (int i = 0; i < 16; i++) {
                client.lock("mute" + i).acquire().release();
            }
            proxy.blackHole();
            long begun = System.nanoTime();

            client.close();

            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Patience.of(Duration.ofSeconds(5)));
        }
    }

    @Test
    void whyNothingCameIsSaidInTime() throws Exception {
        try (LockClient client = Locks.open(
                "lock:zookeeper://127.0.0.1:" + Ports.free() + "/keyway?requestTimeout=1s&closeTimeout=1s")) {
            long begun = System.nanoTime();
            assertThatThrownBy(() -> client.lock("dead").tryAcquire(Duration.ofSeconds(1)))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("no server of the ensemble");
            assertThatThrownBy(() -> client.lock("dead").tryAcquire())
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("no server of the ensemble");
            assertThatThrownBy(() -> client.admin().show(LockKey.lock(LockName.of("dead"))))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("no server of the ensemble");
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Patience.of(Duration.ofSeconds(30)));
        }
    }
}
