// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.redis.server.Certificates;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Ports;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Locks over TLS: with whom it is spoken, and with whom not. */
class TlsTest {
    @TempDir
    private Path directory;

    @Test
    void aServerWhoseCertificateIsTrustedServes() throws Exception {
        Certificates certificates = Certificates.make(directory);
        int port = Ports.free();
        try (RedisServer server = RedisServer.start(
                RedisExecutable.brought(),
                directory,
                certificates.settings(port).toArray(String[]::new))) {
            String url = "lock:rediss://127.0.0.1:" + port;
            String trusting = url + "?requestTimeout=20s&connectTimeout=20s&trustStore=" + certificates.trustStore()
                    + "&trustStorePassword=";
            try (LockClient client = Locks.open(trusting + certificates.password());
                    LockClient other = Locks.open(trusting + certificates.password())) {
                Lease lease = client.lock("a").acquire();
                CompletableFuture<Lease> waiter = other.lock("a").acquireAsync();
                assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
                assertThat(waiter.get(Patience.seconds(20), TimeUnit.SECONDS).isHeld())
                        .isTrue();
            }
            try (LockClient strict = Locks.open(url + "?requestTimeout=20s&connectTimeout=20s")) {
                assertThatThrownBy(() -> strict.lock("a").tryAcquire())
                        .as("the JDK's trust store does not have it")
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("certificate")
                        .hasMessageContaining("trustStore");
            }
            try (LockClient misled = Locks.open(
                    (trusting + certificates.password()).replace("127.0.0.1:" + port, "localhost:" + port))) {
                assertThatThrownBy(() -> misled.lock("a").tryAcquire())
                        .as("the certificate is another host's")
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("localhost");
            }
            assertThatThrownBy(() -> Locks.open(trusting + "wrong"))
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("trust store")
                    .hasMessageNotContaining("wrong");
            refusal("lock:redis://127.0.0.1:" + port, "if it speaks TLS, write lock:rediss:");
            refusal("lock:rediss://127.0.0.1:" + server.port(), "if the server speaks no TLS, write lock:redis:");
            try (LockClient hasty = Locks.open(
                    "lock:rediss://127.0.0.1:" + server.port() + "?requestTimeout=300ms&connectTimeout=2s")) {
                assertThatThrownBy(() -> hasty.lock("a").tryAcquire())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("still being connected to, which may take 2s");
            }
            assertThat(server.ask("PING")).isEqualTo("PONG");
        }
    }

    private static void refusal(String url, String hint) throws Exception {
        try (LockClient misled = Locks.open(
                url + "?requestTimeout=" + Patience.seconds(10) + "s&connectTimeout=" + Patience.seconds(1) + "s")) {
            assertThatThrownBy(() -> misled.lock("a").tryAcquire())
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining(hint);
        }
    }
}
