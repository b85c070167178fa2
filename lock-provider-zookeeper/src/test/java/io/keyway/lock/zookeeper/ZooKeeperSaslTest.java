// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import java.nio.file.Path;
import java.util.Map;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.ClientInfo;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestLoginModule;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SASL with DIGEST-MD5, by sections of a JAAS configuration, which is one for the whole JVM. With Netty on the class
 * path, which a server with SASL needs.
 */
@Tag("soak")
class ZooKeeperSaslTest {
    private static OneServer server;

    /** What a JAAS file would say. */
    static final class Jaas extends Configuration {
        private final String password;

        Jaas(String password) {
            this.password = password;
        }

        @Override
        public AppConfigurationEntry[] getAppConfigurationEntry(String section) {
            return switch (section) {
                case "Server" -> login(Map.of("user_ann", "secret"));
                case "Client" -> login(Map.of("username", "ann", "password", password));
                default -> null;
            };
        }

        private static AppConfigurationEntry[] login(Map<String, String> options) {
            return new AppConfigurationEntry[] {
                new AppConfigurationEntry(
                        DigestLoginModule.class.getName(),
                        AppConfigurationEntry.LoginModuleControlFlag.REQUIRED,
                        options)
            };
        }
    }

    @BeforeAll
    static void beginTheServer(@TempDir Path directory) throws Exception {
        System.setProperty("zookeeper.fips-mode", "false");
        Configuration.setConfiguration(new Jaas("secret"));
        server = new OneServer(directory);
    }

    @AfterAll
    static void endTheServer() throws Exception {
        server.close();
        Configuration.setConfiguration(null);
        System.clearProperty("zookeeper.fips-mode");
    }

    private static LockClient client() {
        return Locks.open(server.url() + "?ttl=30s&requestTimeout=20s&closeTimeout=2s");
    }

    @Test
    void aClientWithTheRightPasswordTakesALockInANodeThatIsOpenToAll() throws Exception {
        Configuration.setConfiguration(new Jaas("secret"));
        try (LockClient client = client();
                Lease lease = client.lock("sasl").acquire()) {
            ZooKeeper handle = client.unwrap(ZooKeeper.class);
            String container = new Paths("/keyway").container(LockKey.lock(LockName.of("sasl")));
            String node = handle.getChildren(container, false).get(0);

            assertThat(lease.isHeld()).isTrue();
            assertThat(handle.whoAmI()).extracting(ClientInfo::getAuthScheme).contains("sasl");
            assertThat(handle.getACL(container + "/" + node, null))
                    .containsExactly(new ACL(ZooDefs.Perms.ALL, new Id("world", "anyone")));
        }
    }

    @Test
    void aClientWithAWrongPasswordIsToldAtOnce() {
        Configuration.setConfiguration(new Jaas("guess"));
        try (LockClient client = client()) {
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> client.lock("sasl").acquire())
                        .isInstanceOf(InvalidLockUrlException.class)
                        .hasMessageContaining("refused the credentials")
                        .hasMessageContaining("JAAS");
            }
        }
    }
}
