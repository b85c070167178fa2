// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.PostgresServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A database whose clock is moved: a function of the schema shadows it, which the search path finds first. */
class ClockTest {

    private static String shadowed(PostgresServer server) throws Exception {
        String url = server.url("clock");
        String schema = url.substring(url.lastIndexOf('=') + 1);
        server.run(
                "CREATE TABLE " + schema + ".shift AS SELECT interval '0' AS by",
                "CREATE FUNCTION " + schema + ".clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS"
                        + " 'SELECT pg_catalog.clock_timestamp() + by FROM " + schema + ".shift'");
        return url + ",pg_catalog";
    }

    private static void shift(PostgresServer server, String url, String by) throws Exception {
        String schema = url.substring(url.lastIndexOf('=') + 1).replace(",pg_catalog", "");
        server.run("UPDATE " + schema + ".shift SET by = interval '" + by + "'");
    }

    @Test
    void aClockThatIsSetForwardEndsLeasesAndTheirHoldersAreTold() throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = shadowed(server);
        try (LockClient one = Locks.open(url + "&lock.ttl=2s");
                LockClient other = Locks.open(url)) {
            Lease early = one.lock("moved").acquire();
            shift(server, url, "1 hour");
            try (Lease late =
                    other.lock("moved").tryAcquire(Duration.ofSeconds(5)).orElseThrow()) {
                // The condition of the guarantee is broken; what is left is the fence.
                assertThat(late.token()).isGreaterThan(early.token());
                LeaseLoss loss = early.lost().toCompletableFuture().get(20, TimeUnit.SECONDS);
                assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
            }
        }
    }

    @Test
    void aClockThatIsSetBackTakesNoLockAwayAndNoTokenGoesBack() throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = shadowed(server);
        try (LockClient one = Locks.open(url + "&lock.ttl=2s");
                LockClient other = Locks.open(url)) {
            Lease early = one.lock("moved").acquire();
            shift(server, url, "-1 hour");
            assertThat(other.lock("moved").tryAcquire(Duration.ofSeconds(3))).isEmpty();
            assertThat(early.isHeld()).isTrue();
            early.close();
            try (Lease late = other.lock("moved").acquire()) {
                assertThat(late.token()).isGreaterThan(early.token());
            }
        }
    }
}
