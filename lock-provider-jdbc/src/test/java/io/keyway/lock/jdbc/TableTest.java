// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.PostgresServer;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A few acquisitions end to end, in each database. */
class TableTest {

    static Stream<String> urls() throws Exception {
        return Stream.of(
                PostgresServer.shared().url("table"),
                H2Server.url("table"),
                "lock:jdbc:h2:mem:table;DB_CLOSE_DELAY=-1");
    }

    @Test
    void aDriverThatIsMissingIsNamedWhenTheClientIsOpened() {
        assertThatThrownBy(() -> Locks.open("lock:jdbc:mysql://127.0.0.1:1/app?password=secret"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("no JDBC driver on the class path")
                .hasMessageContaining("com.mysql:mysql-connector-j")
                .hasMessageContaining("KEYWAY_CLASSPATH")
                .hasMessageNotContaining("secret");
    }

    @ParameterizedTest
    @MethodSource("urls")
    void aLockIsTakenRefusedGivenBackAndTakenAgain(String url) throws Exception {
        try (LockClient one = Locks.open(url);
                LockClient other = Locks.open(url)) {
            // Who does not wait is refused while there is no connection, which takes long on a busy machine.
            assertThat(other.lock("first").tryAcquire(Duration.ofMinutes(1))).hasValueSatisfying(Lease::close);
            long first;
            try (Lease lease = one.lock("jobs/nightly").acquire()) {
                first = lease.token();
                assertThat(other.lock("jobs/nightly").tryAcquire(Duration.ZERO)).isEmpty();
            }
            try (Lease lease = other.lock("jobs/nightly").acquire()) {
                assertThat(lease.token()).isGreaterThan(first);
            }
        }
    }
}
