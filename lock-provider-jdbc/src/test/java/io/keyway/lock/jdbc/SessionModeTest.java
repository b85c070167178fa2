// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Grade;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.BorrowingBackend;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.process.Patience;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Advisory locks of PostgreSQL: what they exclude, what ends them, and where they are refused. */
class SessionModeTest {

    private PostgresServer server;
    private String base;
    private String url;

    @BeforeEach
    void start() throws Exception {
        server = PostgresServer.shared();
        base = server.url("session");
        url = base + "&lock.mode=session";
    }

    private String schema() {
        return base.substring(base.lastIndexOf('=') + 1);
    }

    private long number(String name) {
        return AdvisoryKey.of(schema() + ".keyway_lock_token", LockName.of(name))
                .number();
    }

    /** How many sessions have, or wait for, the lock of that name, as a DBA finds out. */
    private long atServer(String name, boolean granted) throws Exception {
        return server.number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"
                + " AND (classid::bigint << 32) + objid::bigint = ('x' || left(encode(sha256(convert_to('" + schema()
                + ".keyway_lock_token' || chr(10) || '" + name + "', 'UTF8')), 'hex'), 16))::bit(64)::bigint"
                + " AND " + (granted ? "" : "NOT ") + "granted");
    }

    private void terminate(String client) throws Exception {
        server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keyway " + client
                + "'");
    }

    /** As where the address of a client leads to another one since: it says why, and has as many sessions as before. */
    @Test
    void aDatabaseThatIsNotFitIsRefusedForWhatItIsAndCostsNoSession() throws Exception {
        server.run("CREATE DATABASE latin_session ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
        String fit = base.substring("lock:".length());
        AtomicReference<String> leads = new AtomicReference<>(fit);
        DataSource source = new CountedSource(() -> DriverManager.getConnection(leads.get()));
        try (LockClient client = Locks.open(url, ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, source));
                LockClient other = Locks.open(url);
                Lease first = client.lock("first").acquire()) {
            Lease wanted = other.lock("wanted").acquire();
            leads.set(fit.replace("/postgres?", "/latin_session?"));
            // Each of them wants a session that has no locks.
            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(() -> client.lock("wanted").tryAcquire(Duration.ofMinutes(1)))
                        .isInstanceOf(InvalidLockUrlException.class)
                        .hasMessageContaining("has the encoding LATIN1");
            }
            leads.set(fit);
            CompletableFuture<Lease> next = client.lock("wanted").acquireAsync();
            await().atMost(Patience.of(Duration.ofMinutes(1))).until(() -> atServer("wanted", false) == 1);
            wanted.close();
            next.get(Patience.seconds(60), TimeUnit.SECONDS).close();
            assertThat(first.isHeld()).isTrue();
        }
    }

    @Test
    void clientsExcludeEachOtherAndTokensRiseOverBothModes() throws Exception {
        long before;
        try (LockClient table = Locks.open(base);
                Lease lease = table.lock("nightly").acquire()) {
            before = lease.token();
        }
        try (LockClient one = Locks.open(url);
                LockClient other = Locks.open(url)) {
            // Who does not wait is refused while there is no connection, which takes long on a busy machine.
            assertThat(other.lock("first").tryAcquire(Duration.ofMinutes(1))).hasValueSatisfying(Lease::close);
            Lease lease = one.lock("nightly").acquire();
            assertThat(lease.token()).isGreaterThan(before);
            assertThat(atServer("nightly", true)).isEqualTo(1);
            assertThat(other.lock("nightly").tryAcquire()).isEmpty();
            assertThat(one.lock("nightly").tryAcquire())
                    .as("locks stack within a session")
                    .isEmpty();
            CompletableFuture<Lease> next = other.lock("nightly").acquireAsync();
            await().until(() -> atServer("nightly", false) == 1);
            lease.close();
            try (Lease after = next.get(Patience.seconds(20), TimeUnit.SECONDS)) {
                assertThat(after.token()).isGreaterThan(lease.token());
            }
        }
        await().until(() -> atServer("nightly", true) == 0);
    }

    /** As one that fails on its way: a thread of the client waits in its place. */
    @Test
    void aRequestIsServedWhoseThreadNeverComesToWaitForIt() throws Exception {
        try (LockClient one = Locks.open(url);
                LockClient other = Locks.open(url)) {
            other.lock("first").acquire().close();
            Lease lease = one.lock("nightly").acquire();
            BorrowingBackend backend = (BorrowingBackend) other.unwrap(LockBackend.class);
            Request request = request("nightly");
            Duration limit = Duration.ofSeconds(20);
            assertThat(backend.attemptWaiting(request, limit)).isInstanceOf(Attempt.Waiting.class);
            await().until(() -> atServer("nightly", false) == 1);
            lease.close();
            await().until(() -> backend.attempt(request, limit) instanceof Attempt.Granted);
        }
    }

    /** As for whoever gives up while the database is away. */
    @Test
    void aRequestIsForgottenThatHasNeverReachedTheServer() throws Exception {
        try (LockClient client = Locks.open(url.replaceFirst(":\\d+/", ":1/"))) {
            assertThatThrownBy(() -> client.lock("nightly").tryAcquire()).isInstanceOf(LockException.class);
            assertThatCode(() -> client.unwrap(LockBackend.class).forgotten(request("nightly")))
                    .doesNotThrowAnyException();
        }
    }

    private static Request request(String name) {
        return new Request(
                1L << 40,
                LockKey.lock(name),
                LockMode.EXCLUSIVE,
                1,
                1,
                Duration.ofMinutes(1),
                true,
                new Owner("asks the backend itself", Map.of()));
    }

    @Test
    void readersShareOneLockOfTheServerAndTheLastGivesItBack() throws Exception {
        try (LockClient one = Locks.open(url);
                LockClient other = Locks.open(url)) {
            Lease first = one.readWriteLock("book").read().acquire();
            Lease second = one.readWriteLock("book").read().acquire();
            Lease third = other.readWriteLock("book").read().acquire();
            assertThat(List.of(first.token(), second.token(), third.token())).doesNotHaveDuplicates();
            assertThat(atServer("book", true)).isEqualTo(2);
            CompletableFuture<Lease> writer =
                    other.readWriteLock("book").write().acquireAsync();
            first.close();
            third.close();
            assertThat(one.readWriteLock("book").write().tryAcquire()).isEmpty();
            assertThat(writer).isNotDone();
            second.close();
            try (Lease last = writer.get(Patience.seconds(20), TimeUnit.SECONDS)) {
                assertThat(last.token()).isGreaterThan(third.token());
            }
        }
    }

    @Test
    void whoeverWaitsInTheSameClientIsNextAfterTheRelease() throws Exception {
        try (LockClient client = Locks.open(url)) {
            Lease lease = client.lock("own").acquire();
            List<CompletableFuture<Lease>> all = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                all.add(client.lock("own").acquireAsync());
            }
            lease.close();
            for (CompletableFuture<Lease> next : all) {
                next.get(Patience.seconds(10), TimeUnit.SECONDS).close();
            }
        }
    }

    /** What the guarantee says no to: the server frees what a session had as soon as it ends. */
    @Test
    void aTerminatedBackendFreesTheLockAtOnceAndItsHolderIsTold() throws Exception {
        try (LockClient one = Locks.open(url + "&lock.name=terminated&lock.ttl=60s");
                LockClient other = Locks.open(url)) {
            assertThat(one.guarantees().exclusion().grade()).isEqualTo(Grade.NO);
            Lease early = one.lock("r1").acquire();
            CompletableFuture<Lease> next = other.lock("r1").acquireAsync();
            await().until(() -> atServer("r1", false) == 1);
            terminate("terminated");
            Lease late = next.get(Patience.seconds(10), TimeUnit.SECONDS);
            assertThat(late.token()).as("what is left is the fence").isGreaterThan(early.token());
            LeaseLoss loss = early.lost().toCompletableFuture().get(Patience.seconds(10), TimeUnit.SECONDS);
            assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
            assertThat(loss.detail()).contains("its session with postgresql://127.0.0.1", "has ended");
            late.close();
            one.lock("r1").acquire().close();
        }
    }

    @Test
    void whoeverNeedsExclusionIsRefused() {
        assertThatThrownBy(() -> Locks.open(url + "&lock.require=exclusion:timed"))
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("a lock is free as soon as its session with the server ends");
    }

    @Test
    void anotherDatabaseHasNoSuchLocks() {
        assertThatThrownBy(() -> Locks.open(H2Server.url("session") + ";lock.mode=session"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("lock.mode=session is for PostgreSQL");
    }

    @Test
    void twoSchemasAreTwoSetsOfLocks() throws Exception {
        String elsewhere = server.url("session") + "&lock.mode=session";
        try (LockClient one = Locks.open(url);
                LockClient other = Locks.open(elsewhere);
                Lease lease = one.lock("x").acquire();
                Lease beside = other.lock("x").tryAcquire().orElseThrow()) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(beside.isHeld()).isTrue();
        }
    }

    @Test
    void moreNamesThanConnectionsAreWaitedForByNotification() throws Exception {
        try (LockClient holder = Locks.open(url);
                LockClient waiter = Locks.open(url + "&lock.connections=3&lock.name=many")) {
            List<Lease> held = new ArrayList<>();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                held.add(holder.lock("many/" + i).acquire());
                waiting.add(waiter.lock("many/" + i).acquireAsync());
            }
            await().until(() -> server.number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND"
                            + " objsubid = 2 AND mode = 'ShareLock' AND granted")
                    >= 19);
            assertThat(server.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'keyway many'"))
                    .isLessThanOrEqualTo(3);
            held.forEach(Lease::close);
            for (CompletableFuture<Lease> next : waiting) {
                next.get(Patience.seconds(20), TimeUnit.SECONDS).close();
            }
            // Nobody listens forever.
            await().until(() ->
                    server.number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2") == 0);
        }
    }

    /** The sequence writes once in 32 values, here in a transaction that nobody waits for. */
    @Test
    void aTokenOutlastsACrashThoughTheSequenceHadNotWrittenIt() throws Exception {
        String sequence = schema() + ".keyway_lock_token";
        try (LockClient client = Locks.open(url);
                LockClient other = Locks.open(url)) {
            client.lock("first").acquire().close();
            server.stopWalWriter();
            server.run(
                    "SET synchronous_commit = off",
                    "DO $$ BEGIN LOOP PERFORM nextval('" + sequence + "'); EXIT WHEN (SELECT log_cnt FROM " + sequence
                            + ") = 32; END LOOP; END $$");
            Lease before = client.lock("crash").acquire();
            server.kill();
            server.restart();
            try (Lease after = other.lock("crash").acquire()) {
                assertThat(after.token()).isGreaterThan(before.token());
            }
        }
    }

    @Test
    void aFloorIsBelowAllTokens() throws Exception {
        try (LockClient client = Locks.open(url + "&lock.tokenFloor=1000000");
                Lease lease = client.lock("x").acquire()) {
            assertThat(lease.token()).isGreaterThan(1_000_000);
        }
    }

    /** A number is eight bytes of SHA-256: it must never change. */
    @Test
    void theNumberOfANameIsWhatTheDocumentationSays() throws Exception {
        assertThat(server.number("SELECT ('x' || left(encode(sha256(convert_to('" + schema()
                        + ".keyway_lock_token' || chr(10) || 'jobs/nightly', 'UTF8')), 'hex'), 16))::bit(64)::bigint"))
                .isEqualTo(number("jobs/nightly"));
    }
}
