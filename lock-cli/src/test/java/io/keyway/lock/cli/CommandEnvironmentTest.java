// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CommandEnvironmentTest {
    private final LockClient client = Locks.open("lock:native:mem://environment");
    private final Lease lease =
            client.lock("db/orders").tryAcquireAsync(Duration.ZERO).join().orElseThrow();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void theCommandFindsTokenAndNameBesideWhatKeywayFound() {
        assertThat(prepared(Map.of("HOME", "/h", "LC_ALL", "de_DE.UTF-8", "KEYWAY_RUN_9", "1")))
                .isEqualTo(Map.of(
                        "HOME", "/h",
                        "LC_ALL", "de_DE.UTF-8",
                        "KEYWAY_RUN_9", "1",
                        "KEYWAY_RUN_8", "1",
                        "KEYWAY_TOKEN", Long.toString(lease.token()),
                        "KEYWAY_NAME", "db/orders"));
    }

    @Test
    void theLocaleOfTheCommandIsTheUsersOwn() {
        assertThat(prepared(Map.of("LC_ALL", "C.UTF-8", "KEYWAY_LC_ALL", "unset")))
                .doesNotContainKeys("LC_ALL", "KEYWAY_LC_ALL");
        assertThat(prepared(Map.of("LC_ALL", "C.UTF-8", "KEYWAY_LC_ALL", "C")))
                .containsEntry("LC_ALL", "C")
                .doesNotContainKey("KEYWAY_LC_ALL");
    }

    @Test
    void ofSeveralLocksItFindsNamesAndTokensInOneOrder() throws Exception {
        Map<String, String> environment = new HashMap<>();
        try (LeaseSet leases = client.locks("b and more", "a").acquire()) {
            CommandEnvironment.prepare(environment, HeldLocks.of(leases), "KEYWAY_RUN_8");
            assertThat(environment)
                    .isEqualTo(Map.of(
                            "KEYWAY_RUN_8",
                            "1",
                            "KEYWAY_NAMES",
                            "a\nb and more",
                            "KEYWAY_TOKENS",
                            leases.token("a") + "\n" + leases.token("b and more")));
        }
    }

    private Map<String, String> prepared(Map<String, String> before) {
        Map<String, String> environment = new HashMap<>(before);
        CommandEnvironment.prepare(environment, HeldLocks.of(lease), "KEYWAY_RUN_8");
        return environment;
    }
}
