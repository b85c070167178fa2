// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Locks;
import java.util.concurrent.atomic.AtomicReference;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.client.ZooKeeperSaslClient;
import org.junit.jupiter.api.Test;

/** All other tests but those of TLS and SASL run without Netty; this one sees to it. */
class NoNettyTest {

    @Test
    void tlsWithoutNettyIsRefusedWithWhatToAdd() {
        assertThatThrownBy(() -> Class.forName("io.netty.util.Version")).isInstanceOf(ClassNotFoundException.class);

        assertThatThrownBy(() -> Locks.open("lock:zookeeper://127.0.0.1:1/keyway?tls=true"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("io.netty:netty-handler")
                .hasMessageContaining("io.netty:netty-transport-classes-epoll");
    }

    @Test
    void zooKeepersOwnConfigurationNeedsIt() {
        assertThatThrownBy(ZKClientConfig::new)
                .isInstanceOf(NoClassDefFoundError.class)
                .hasMessageContaining("io/netty/handler");
    }

    @Test
    void aLoginBySaslNeedsNone() throws Exception {
        System.setProperty("zookeeper.fips-mode", "false");
        Configuration.setConfiguration(new ZooKeeperSaslTest.Jaas("secret"));
        try {
            PlainConfig config = new PlainConfig();
            ZooKeeperSaslClient client =
                    new ZooKeeperSaslClient("zookeeper/localhost", config, new AtomicReference<>());

            assertThat(client.getLoginContext()).isEqualTo("Client");
            // Or it would do no DIGEST-MD5.
            assertThat(config.getProperty("zookeeper.fips-mode")).isEqualTo("false");
        } finally {
            Configuration.setConfiguration(null);
            System.clearProperty("zookeeper.fips-mode");
        }
    }
}
