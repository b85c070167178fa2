// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.JavaLocks;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReentrantLocks;
import io.keyway.lock.Subscription;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** The programs of docs/applications.md, between the lines that say so. */
class ApplicationExamplesTest {
    private String url;
    private LockClient locks;
    private LockClient other;
    private MemoryWorld world;
    private final List<String> done = new CopyOnWriteArrayList<>();

    @BeforeEach
    void open(TestInfo test) {
        url = "lock:native:mem://application-"
                + test.getTestMethod().orElseThrow().getName() + "?clock=manual&ttl=10s";
        locks = Locks.open(url);
        other = Locks.open(url);
        world = locks.unwrap(MemoryWorld.class);
    }

    @AfterEach
    void close() {
        locks.close();
        other.close();
    }

    private void work(String what) {
        done.add(what);
    }

    @Test
    void opening() throws InterruptedException {
        // opening begins
        ClientOptions options = ClientOptions.defaults()
                .withName("billing@" + ProcessHandle.current().pid())
                .withDefaults(LockOptions.none().withTtl(Duration.ofSeconds(20)));
        try (LockClient client = Locks.open(url, options)) {
            client.lock("invoices/2026").callLocked(lease -> done.add("invoices"));
        }
        // opening ends
        assertThat(done).containsExactly("invoices");
    }

    @Test
    void verbs() throws InterruptedException {
        DistributedLock lock = locks.lock("report");
        // verbs begins
        // Do it now or in a while, but do it.
        lock.callLocked(lease -> done.add("the report"));

        // Do it unless somebody else does.
        boolean ran = lock.tryRunLocked(Duration.ZERO, lease -> work("the report"));

        // Wait for a while; taken and unreachable are different answers.
        try {
            Optional<Lease> lease = lock.tryAcquire(Duration.ofSeconds(3));
            lease.ifPresent(Lease::close);
        } catch (LockUnavailableException e) {
            work("say that the locks cannot be reached: " + e.getMessage());
        }

        // Without a thread that waits; cancel() or orTimeout() of this very future withdraws the request.
        CompletableFuture<Lease> asked = lock.acquireAsync();
        CompletableFuture<Void> report = asked.thenAccept(lease -> {
            try {
                work("the report");
            } finally {
                lease.releaseAsync(); // nothing else ends a lease that is renewed
            }
        });
        // verbs ends
        report.join();
        assertThat(ran).isTrue();
        assertThat(done).containsExactly("the report", "the report", "the report");
    }

    @Test
    void reentrance() throws InterruptedException {
        // reentrance begins
        ReentrantLocks again = JavaLocks.reentrant(locks);

        try (Lease outer = again.lock("orders/7").acquire()) {
            try (Lease inner = again.lock("orders/7").acquire()) { // at once, in the same thread
                work("under token " + inner.token());
            }
            outer.ensureHeld(); // the last one to be closed releases
        }
        // reentrance ends
        assertThat(done).hasSize(1);
        assertThat(other.lock("orders/7").tryAcquire()).isPresent();
    }

    @Test
    void loss() throws InterruptedException {
        List<String> chunks = List.of("1", "2", "3");
        // loss begins
        try (Lease lease = locks.lock("import").acquire()) {
            lease.lost().thenAccept(loss -> work("stop: " + loss)); // tell whatever cannot ask
            for (String chunk : chunks) {
                lease.ensureHeld(); // throws LeaseLostException
                work(chunk);
            }
        }
        // loss ends
        assertThat(done).containsExactlyElementsOf(chunks);
        Lease lost = locks.lock("import").acquire();
        world.cut(true);
        world.advance(Duration.ofSeconds(8));
        assertThatThrownBy(lost::ensureHeld).isInstanceOf(LeaseLostException.class);
    }

    // fence begins
    /** Writes the balance unless somebody with a later lease has written it; false then, and nothing is changed. */
    static boolean write(Connection database, Lease lease, int account, long balance) throws SQLException {
        try (PreparedStatement update =
                database.prepareStatement("UPDATE account SET balance = ?, fence = ? WHERE id = ? AND fence <= ?")) {
            update.setLong(1, balance);
            update.setLong(2, lease.token());
            update.setInt(3, account);
            update.setLong(4, lease.token());
            return update.executeUpdate() == 1;
        }
    }
    // fence ends

    @Test
    void aLateHolderDoesNotGetPastTheFence() throws Exception {
        try (Connection database = DriverManager.getConnection("jdbc:h2:mem:");
                Statement ddl = database.createStatement()) {
            ddl.execute("CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT, fence BIGINT DEFAULT 0)");
            ddl.execute("INSERT INTO account (id, balance) VALUES (7, 100)");
            Lease late = locks.lock("accounts/7").acquire();
            assertThat(write(database, late, 7, 110)).isTrue();
            assertThat(write(database, late, 7, 120)).isTrue();

            world.cut(true);
            Lease next = other.lock("accounts/7").acquire();
            assertThat(write(database, next, 7, 200)).isTrue();

            assertThat(write(database, late, 7, 130)).isFalse();
            try (ResultSet row = ddl.executeQuery("SELECT balance, fence FROM account WHERE id = 7")) {
                assertThat(row.next()).isTrue();
                assertThat(row.getLong(1)).isEqualTo(200);
                assertThat(row.getLong(2)).isEqualTo(next.token());
            }
        }
    }

    @Test
    void events() throws InterruptedException {
        List<LockEvent.Type> counted = new ArrayList<>();
        // events begins
        locks.addListener(event -> {
            switch (event.type()) {
                case LOST, DOUBTFUL, DISCONNECTED -> work("warn: " + event);
                case GRANTED -> counted.add(event.type()); // event.after() is how long it waited
                default -> {}
            }
        });
        // events ends
        locks.lock("counted").acquire();
        world.cut(true);
        world.advance(Duration.ofSeconds(8));
        assertThat(counted).hasSize(1);
        assertThat(done).anyMatch(line -> line.contains("LOST"));
    }

    @Test
    void watch() throws InterruptedException {
        List<String> page = new ArrayList<>();
        // watch begins
        try (Subscription watch = locks.watch("jobs/nightly", now -> {
            String who = now.isFree() ? "nobody" : now.status().holders().get(0).client();
            page.add(who + " holds, " + now.status().waiters().size() + " wait" + (now.certain() ? "" : "?"));
        })) {
            work("while others look at the page");
        }
        // watch ends
        try (Subscription watch = locks.watch("jobs/nightly", now -> page.add(String.valueOf(now.isFree())))) {
            world.advanceUntil(() -> page.contains("true"), Duration.ofSeconds(2));
            Lease lease = locks.lock("jobs/nightly").acquire();
            world.advanceUntil(() -> page.contains("false"), Duration.ofSeconds(2));
            lease.release();
        }
        assertThat(page).contains("true", "false");
    }

    @Test
    void health() throws InterruptedException {
        List<Duration> gauge = new ArrayList<>();
        // health begins
        try {
            gauge.add(locks.ping()); // one question to the store, which takes no lock
        } catch (LockUnavailableException e) {
            work("unhealthy: " + e.getMessage());
        }
        // health ends
        assertThat(gauge).hasSize(1);
        world.cut(true);
        assertThatThrownBy(() -> locks.ping()).isInstanceOf(LockUnavailableException.class);
    }
}
