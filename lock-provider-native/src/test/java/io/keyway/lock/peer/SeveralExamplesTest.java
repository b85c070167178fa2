// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** The programs of docs/several-locks.md, between the lines that say so. */
class SeveralExamplesTest {
    private String database;
    private LockClient locks;
    private LockClient other;

    @BeforeEach
    void open(TestInfo test) throws SQLException {
        String name = "several-" + test.getTestMethod().orElseThrow().getName();
        locks = Locks.open("lock:native:mem://" + name);
        other = Locks.open("lock:native:mem://" + name);
        database = "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1";
        try (Connection connection = DriverManager.getConnection(database);
                Statement ddl = connection.createStatement()) {
            ddl.execute("CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT, fence BIGINT DEFAULT 0)");
            ddl.execute("INSERT INTO account (id, balance) VALUES (7, 100), (9, 100)");
        }
    }

    @AfterEach
    void close() {
        locks.close();
        other.close();
    }

    // transfer begins
    /** Moves an amount between two accounts, unless a later holder of one of them was there first. */
    static boolean transfer(LockClient locks, Connection database, int from, int to, long amount)
            throws SQLException, InterruptedException {
        String source = "accounts/" + from;
        String target = "accounts/" + to;
        return locks.locks(source, target).callLocked(both -> {
            database.setAutoCommit(false);
            boolean done =
                    add(database, from, -amount, both.token(source)) && add(database, to, amount, both.token(target));
            if (done && both.isHeld()) {
                database.commit();
            } else {
                database.rollback();
            }
            return done;
        });
    }

    static boolean add(Connection database, int account, long amount, long token) throws SQLException {
        try (PreparedStatement update = database.prepareStatement(
                "UPDATE account SET balance = balance + ?, fence = ? WHERE id = ? AND fence <= ?")) {
            update.setLong(1, amount);
            update.setLong(2, token);
            update.setInt(3, account);
            update.setLong(4, token);
            return update.executeUpdate() == 1;
        }
    }
    // transfer ends

    @Test
    void transfersInBothDirectionsBlockNobody() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            boolean there = i % 2 == 0;
            LockClient client = i < 2 ? locks : other;
            Thread thread = new Thread(() -> {
                try (Connection connection = DriverManager.getConnection(database)) {
                    for (int round = 0; round < 25; round++) {
                        assertThat(transfer(client, connection, there ? 7 : 9, there ? 9 : 7, 1 + round))
                                .isTrue();
                    }
                } catch (SQLException | InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join(Patience.of(Duration.ofSeconds(50)).toMillis());
            assertThat(thread.isAlive()).isFalse();
        }
        assertThat(balances()).containsExactly(100L, 100L);
    }

    @Test
    void aLateTransferDoesNotGetPastTheFence() throws Exception {
        try (Connection connection = DriverManager.getConnection(database)) {
            LeaseSet late = locks.locks("accounts/7", "accounts/9").acquire();
            assertThat(other.admin().breakLease(LockKey.lock("accounts/9"), late.token("accounts/9"), "too late"))
                    .isTrue();
            assertThat(transfer(other, connection, 7, 9, 30)).isTrue();

            assertThat(add(connection, 9, 30, late.token("accounts/9"))).isFalse();
            assertThatThrownBy(late::ensureHeld).isInstanceOf(LeaseLostException.class);
            late.close();
            assertThat(balances()).containsExactly(70L, 130L);
        }
    }

    @Test
    void limit() throws InterruptedException {
        List<String> done = new ArrayList<>();
        // limit begins
        boolean ran = locks.locks("disk/a", "disk/b", "tape").tryRunLocked(Duration.ofSeconds(3), leases -> {
            leases.lost().thenAccept(loss -> done.add("stop: " + loss.detail())); // which of them, and why
            done.add("copied under " + leases.tokens());
            leases.ensureHeld(); // all three, or LeaseLostException
        });
        // limit ends
        assertThat(ran).isTrue();
        assertThat(done).hasSize(1);
    }

    private List<Long> balances() throws SQLException {
        try (Connection connection = DriverManager.getConnection(database);
                Statement query = connection.createStatement();
                ResultSet rows = query.executeQuery("SELECT balance FROM account ORDER BY id")) {
            List<Long> balances = new ArrayList<>();
            while (rows.next()) {
                balances.add(rows.getLong(1));
            }
            return balances;
        }
    }
}
