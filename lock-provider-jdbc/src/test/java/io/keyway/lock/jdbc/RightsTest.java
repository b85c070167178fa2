// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.Feature;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Users that may not do everything, and passwords. */
class RightsTest {

    @Test
    void whoMustNotMakeTablesIsToldHowToAndUsesThoseThatOthersHaveMade() throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = server.url("rights");
        String schema = url.substring(url.lastIndexOf('=') + 1);
        server.run(
                "CREATE ROLE " + schema + " LOGIN PASSWORD 's3cr3t'",
                "GRANT USAGE ON SCHEMA " + schema + " TO " + schema);
        String limited = url.replace("user=postgres", "user=" + schema + "&password=s3cr3t");
        try (LockClient client = Locks.open(limited)) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire())
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("keyway providers --ddl postgresql")
                    .hasMessageContaining("permission denied for schema " + schema)
                    .hasMessageNotContaining("s3cr3t");
        }

        String ddl = new JdbcProvider().ddl().get("postgresql");
        server.run("SET search_path = " + schema + "; " + ddl);
        server.run(
                "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA " + schema + " TO " + schema,
                "GRANT USAGE ON ALL SEQUENCES IN SCHEMA " + schema + " TO " + schema);
        try (LockClient client = Locks.open(limited);
                Lease lease = client.lock("x").acquire()) {
            assertThat(lease.token()).isPositive();
            assertThat(client.features()).contains(Feature.WAKE_UP);
        }
    }

    @Test
    void whoIsNotWelcomeHearsWhatTheDatabaseSays() throws Exception {
        String url = PostgresServer.shared().url("welcome").replace("user=postgres", "user=nobody&password=s3cr3t");
        try (LockClient client = Locks.open(url)) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire())
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("the database refuses this user")
                    .hasMessageContaining("role \"nobody\" does not exist")
                    .hasMessageNotContaining("s3cr3t");
        }
        assertThatThrownBy(() -> Locks.open(url + "&lock.connect=eager"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("role \"nobody\" does not exist");
    }

    @Test
    void noTableIsMadeIfTheUrlSaysSo() throws Exception {
        String url = PostgresServer.shared().url("create") + "&lock.create=false";
        try (LockClient client = Locks.open(url)) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire())
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("there is no table keyway_lock")
                    .hasMessageContaining("keyway providers --ddl postgresql");
        }
    }

    @Test
    void aDriverThatNobodyBroughtAndADatabaseThatNobodyKnowsAreNamed() {
        assertThatThrownBy(() -> Locks.open("lock:jdbc:db2://localhost:1/x:password=s3cr3t;"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("'db2'")
                .hasMessageContaining("postgresql, h2")
                .hasMessageNotContaining("s3cr3t");
    }

    @Test
    void clientsThatMakeTheTablesAtOnceDoNotMeet() throws Exception {
        for (int round = 0; round < 3; round++) {
            race(PostgresServer.shared().url("race"));
        }
    }

    /** Six clients, which all find that there are no tables. */
    static void race(String url) throws Exception {
        List<LockClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 6; i++) {
                clients.add(Locks.open(url));
            }
            List<CompletableFuture<Lease>> all = clients.stream()
                    .map(client -> client.lock("x").acquireAsync())
                    .toList();
            for (int i = 0; i < all.size(); i++) {
                Lease lease = (Lease) CompletableFuture.anyOf(all.stream()
                                .filter(it -> !it.isDone() || it.join().isHeld())
                                .toArray(CompletableFuture[]::new))
                        .get(Patience.seconds(60), TimeUnit.SECONDS);
                lease.close();
            }
            assertThat(all).allMatch(CompletableFuture::isDone);
        } finally {
            clients.forEach(LockClient::close);
        }
    }
}
