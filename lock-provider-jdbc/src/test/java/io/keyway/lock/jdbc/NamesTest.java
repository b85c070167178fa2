// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.PostgresServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Names that a database may take for one another, or for too long. */
class NamesTest {

    static Stream<String> urls() throws Exception {
        // A first connection takes its time on a busy machine, and an attempt has a part of the ttl.
        String patient = "lock.requestTimeout=60s;lock.connectTimeout=60s;lock.ttl=10m";
        return Stream.of(
                PostgresServer.shared().url("names") + "&" + patient.replace(';', '&'),
                H2Server.url("names") + ";IGNORECASE=TRUE;MODE=MySQL;" + patient);
    }

    @ParameterizedTest
    @MethodSource("urls")
    void namesThatDifferInCaseBlanksOrTheirEndsAreDifferentLocks(String url) throws Exception {
        check(url);
    }

    static void check(String url) throws Exception {
        String most = "ä".repeat(255);
        List<String> names = List.of("a", "A", "a ", " a", "å", "Å", "a%", "a_", most + "b", most + "c", "a/b", "a,b");
        try (LockClient client = Locks.open(url)) {
            List<Lease> all = new ArrayList<>();
            for (String name : names) {
                all.add(client.lock(name).tryAcquire().orElseThrow());
            }
            for (String name : names) {
                assertThat(client.admin()
                                .show(LockKey.lock(name))
                                .orElseThrow()
                                .key()
                                .name()
                                .value())
                        .isEqualTo(name);
            }
            assertThat(client.admin().list("a%", Optional.empty(), 100).locks()).hasSize(1);
            assertThat(client.admin().list("", Optional.empty(), 100).locks()).hasSize(names.size());
            all.forEach(Lease::close);
        }
    }
}
