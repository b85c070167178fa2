// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockName;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CommandEnvironmentTest {
    @Test
    void theCommandFindsTokenAndNameBesideWhatKeywayFound() {
        assertThat(prepared(Map.of("HOME", "/h", "LC_ALL", "de_DE.UTF-8", "KEYWAY_RUN_9", "1")))
                .isEqualTo(Map.of(
                        "HOME", "/h",
                        "LC_ALL", "de_DE.UTF-8",
                        "KEYWAY_RUN_9", "1",
                        "KEYWAY_RUN_8", "1",
                        "KEYWAY_TOKEN", "42",
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

    private static Map<String, String> prepared(Map<String, String> before) {
        Map<String, String> environment = new HashMap<>(before);
        CommandEnvironment.prepare(environment, LockName.of("db/orders"), 42, "KEYWAY_RUN_8");
        return environment;
    }
}
