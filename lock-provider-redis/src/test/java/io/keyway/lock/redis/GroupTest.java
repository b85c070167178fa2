// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static org.assertj.core.api.Assertions.assertThatCode;

import io.keyway.lock.group.GroupOptions;
import io.keyway.lock.redis.server.Certificates;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.testing.GroupTrial;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes of an election that talk with each other, where the store has to be asked who leads. */
class GroupTest {
    @TempDir
    private Path directory;

    @Test
    void theNextLeaderGoesOnWhereTheFirstOneGaveUp() throws Exception {
        try (RedisServer server = RedisServer.start(directory)) {
            assertThatCode(() -> GroupTrial.goesOnWhereTheFirstOneGaveUp(
                            "lock:redis://127.0.0.1:" + server.port(), GroupOptions.defaults()))
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void itsProcessesTalkOverSocketsOfTls() throws Exception {
        SSLContext both = contextOf(Certificates.make(directory));
        GroupOptions options =
                GroupOptions.defaults().withSockets(both.getSocketFactory(), both.getServerSocketFactory());
        try (RedisServer server = RedisServer.start(directory)) {
            assertThatCode(() ->
                            GroupTrial.goesOnWhereTheFirstOneGaveUp("lock:redis://127.0.0.1:" + server.port(), options))
                    .doesNotThrowAnyException();
        }
    }

    /** Of a process that has that certificate and trusts it. */
    private static SSLContext contextOf(Certificates certificates) throws Exception {
        char[] password = certificates.password().toCharArray();
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(KeyStore.getInstance(certificates.keyStore().toFile(), password), password);
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(KeyStore.getInstance(certificates.trustStore().toFile(), password));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }
}
