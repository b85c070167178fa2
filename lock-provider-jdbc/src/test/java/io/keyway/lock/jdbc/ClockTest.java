// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.Patience;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * A database whose clock is moved. In PostgreSQL a function of the schema shadows it, which the search path finds
 * first; elsewhere the connections of the test put another expression in its place.
 */
class ClockTest {

    /** How the clock is moved. */
    interface Shift {
        void by(int seconds) throws SQLException;
    }

    /**
     * A database.
     *
     * @param url of its clients
     * @param clock the expression of its clock
     * @param moved what stands in its place
     * @param shift moves it
     */
    record Database(String url, String clock, String moved, Shift shift) {

        LockClient open(String options) {
            if (clock.equals(moved)) {
                return Locks.open(url + options);
            }
            String driver = url.substring("lock:".length());
            CountedSource source = new CountedSource(() -> moving(DriverManager.getConnection(driver)));
            return Locks.open(url + options, ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, source));
        }

        private Connection moving(Connection connection) {
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("prepareStatement")) {
                            arguments[0] = ((String) arguments[0]).replace(clock, "(" + moved + ")");
                        }
                        try {
                            return method.invoke(connection, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }

    private static Database postgres() throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = server.url("clock");
        String schema = url.substring(url.lastIndexOf('=') + 1);
        server.run(
                "CREATE TABLE " + schema + ".shift AS SELECT interval '0' AS by",
                "CREATE FUNCTION " + schema + ".clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS"
                        + " 'SELECT pg_catalog.clock_timestamp() + by FROM " + schema + ".shift'");
        return new Database(
                url + ",pg_catalog",
                "",
                "",
                seconds -> server.run("UPDATE " + schema + ".shift SET by = interval '" + seconds + "'"));
    }

    private static Database h2() throws Exception {
        String url = H2Server.url("clock");
        run(url, "CREATE TABLE shift AS SELECT 0 AS seconds");
        return new Database(
                url,
                H2Dialect.CLOCK,
                "DATEADD(SECOND, (SELECT seconds FROM shift), " + H2Dialect.CLOCK + ")",
                seconds -> run(url, "UPDATE shift SET seconds = " + seconds));
    }

    private static void run(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url.substring("lock:".length()));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Test
    void aClockThatIsSetForwardEndsLeasesAndTheirHoldersAreTold() throws Exception {
        forward(postgres());
        forward(h2());
    }

    @Test
    void aClockThatIsSetBackTakesNoLockAwayAndNoTokenGoesBack() throws Exception {
        back(postgres());
        back(h2());
    }

    static void forward(Database database) throws Exception {
        try (LockClient one = database.open(separator(database) + "lock.ttl=" + Patience.leaseSeconds(8) + "s");
                LockClient other = database.open("")) {
            // So that it asks before the holder's next renewal, by which the lease would go on.
            other.lock("connected").acquire().close();
            Lease early = one.lock("forward").acquire();
            database.shift.by(3600);
            try (Lease late =
                    other.lock("forward").tryAcquire(Duration.ofMinutes(1)).orElseThrow()) {
                // The condition of the guarantee is broken; what is left is the fence.
                assertThat(late.token()).isGreaterThan(early.token());
                LeaseLoss loss = early.lost().toCompletableFuture().get(Patience.seconds(20), TimeUnit.SECONDS);
                assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
            }
        }
    }

    static void back(Database database) throws Exception {
        long ttl = Patience.leaseSeconds(3); // it is to be held, however busy this machine is
        try (LockClient one = database.open(separator(database) + "lock.ttl=" + ttl + "s");
                LockClient other = database.open("")) {
            Lease early = one.lock("back").acquire();
            database.shift.by(-3600);
            assertThat(other.lock("back").tryAcquire(Duration.ofSeconds(ttl + 1)))
                    .isEmpty();
            assertThat(early.isHeld()).isTrue();
            early.close();
            try (Lease late = other.lock("back").acquire()) {
                assertThat(late.token()).isGreaterThan(early.token());
            }
        }
    }

    private static String separator(Database database) {
        return database.url.startsWith("lock:jdbc:h2:") ? ";" : "&";
    }
}
