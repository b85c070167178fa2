// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockMode;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What session mode says to PostgreSQL. Steps whose order matters are nested in CASE: only that has a documented order.
 * A lock of a session outlasts the failure of the statement that took it, so that a statement which failed after it may
 * have taken one is followed by {@link #giveBack}.
 */
final class AdvisorySql {

    private static final int KNOWS_IDLE_SESSIONS = 14;
    private static final String UNLOCK = unlocking("");
    private static final String UNLOCK_SHARED = unlocking("_shared");

    /**
     * Has what was written so far be on disk before this is answered. The sequence writes once in 32 values, so that a
     * crash may take back what stands behind a value that was answered. Where all is on disk nothing is done; else the
     * transaction gets a record of its own, whose commit waits for the disk: a number alone does not.
     */
    private static final String FLUSHED = "CASE WHEN pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn() THEN"
            + " concat(" + PostgresDialect.ON_DISK + ", pg_logical_emit_message(true, 'keyway', '')) END";

    private final TableName table;
    /** The next token: with the sequence's name in the text, the server looks it up once for each plan. */
    private final String token;
    /** Texts are made once: the driver finds a statement by its text, whose hash a string keeps. */
    private final Map<LockMode, String> tries = new EnumMap<>(LockMode.class);

    AdvisorySql(TableName table) {
        this.table = table;
        this.token = "CASE WHEN nextval('" + table.tokens() + "') IS NOT NULL THEN CASE WHEN concat(" + FLUSHED
                + ") IS NOT NULL THEN currval('" + table.tokens() + "') END END";
        for (LockMode mode : LockMode.values()) {
            tries.put(mode, "SELECT CASE WHEN pg_try_advisory_lock" + suffix(mode) + "(?) THEN " + token + " END");
        }
    }

    // The connection.

    /** {@return the sequence with its schema, which tells sets of locks apart; empty if there is none any more} */
    Optional<String> qualified(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT n.nspname || '.' || c.relname"
                + " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass(?)")) {
            statement.setString(1, table.tokens());
            try (ResultSet result = statement.executeQuery()) {
                return result.next() ? Optional.of(result.getString(1)) : Optional.empty();
            }
        }
    }

    /** {@return the process that serves that connection at this moment} */
    static long backend(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT pg_backend_pid()")) {
            result.next();
            return result.getLong(1);
        }
    }

    /** Whether nothing can be written there: a token is a write, too. */
    static boolean isReadOnly(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SHOW transaction_read_only")) {
            result.next();
            return result.getString(1).equals("on");
        }
    }

    /** Notes which process of the server that session is. */
    static void identify(DbSession session) throws SQLException {
        try (Statement statement = session.borrowed.connection.createStatement();
                ResultSet result = statement.executeQuery(
                        "SELECT pid, backend_start::text FROM pg_stat_activity" + " WHERE pid = pg_backend_pid()")) {
            result.next();
            session.backend = result.getLong(1);
            session.backendStart = result.getString(2);
        }
    }

    /** Ends the process of another session of this client. {@return whether it is gone by now} */
    static boolean terminate(Connection connection, DbSession other) throws SQLException {
        String process = " FROM pg_stat_activity WHERE pid = ? AND backend_start = ?::timestamptz";
        try (PreparedStatement end = connection.prepareStatement("SELECT pg_terminate_backend(pid)" + process);
                PreparedStatement look = connection.prepareStatement("SELECT count(*)" + process)) {
            for (PreparedStatement each : List.of(end, look)) {
                each.setLong(1, other.backend);
                each.setString(2, other.backendStart);
            }
            end.execute();
            try (ResultSet result = look.executeQuery()) {
                result.next();
                return result.getLong(1) == 0;
            }
        }
    }

    /**
     * Has the server notice soon that this client is gone, and checks that it will.
     *
     * @return what it will not notice, in sentences for people
     */
    static List<String> watchful(Connection connection, Duration requestTimeout) throws SQLException {
        long statement = Math.max(1, requestTimeout.toMillis());
        List<String> dangers = new ArrayList<>();
        set(connection, "statement_timeout", statement + "ms");
        set(connection, "tcp_keepalives_idle", "5s");
        set(connection, "tcp_keepalives_interval", "2s");
        set(connection, "tcp_keepalives_count", "3");
        if (connection.getMetaData().getDatabaseMajorVersion() < KNOWS_IDLE_SESSIONS) {
            dangers.add("is older than PostgreSQL 14 and cannot end the session of a client that is silent"
                    + " (idle_session_timeout): the locks of one that is paused stay until it goes on, and those of a"
                    + " machine that is gone until keep-alives fail. Use PostgreSQL 14 or later, or lock.mode=table.");
            return dangers;
        }
        set(connection, "idle_session_timeout", "0");
        try {
            set(connection, "client_connection_check_interval", "1s");
        } catch (SQLException e) {
            dangers.add("cannot look after clients that wait (client_connection_check_interval: " + e.getMessage()
                    + "): one that dies while it waits is noticed when its turn has come. Nothing needs to be done.");
        }
        return dangers;
    }

    private static void set(Connection connection, String name, String value) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT set_config(?, ?, false)")) {
            statement.setString(1, name);
            statement.setString(2, value);
            statement.execute();
        }
    }

    /** Has the server end this session when it has not been heard of for so long; 0 for never. */
    static void idle(Connection connection, long millis) throws SQLException {
        if (connection.getMetaData().getDatabaseMajorVersion() >= KNOWS_IDLE_SESSIONS) {
            set(connection, "idle_session_timeout", millis + "ms");
        } else {
            backend(connection);
        }
    }

    // Locks.

    /** {@return the token of the lock, if it was free} */
    OptionalLong tryLock(Connection connection, AdvisoryKey key, LockMode mode) throws SQLException {
        return token(connection, Objects.requireNonNull(tries.get(mode)), key);
    }

    /** {@return a further token for a lock that this session has} */
    long next(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT " + token)) {
            try (ResultSet result = statement.executeQuery()) {
                result.next();
                return result.getLong(1);
            }
        }
    }

    /** {@return the token of the lock when it has come free; empty if that was not within the slice} */
    OptionalLong await(DbSession session, AdvisoryKey key, LockMode mode, Duration slice) throws SQLException {
        String sql = "SELECT CASE WHEN set_config('lock_timeout', '" + slice.toMillis() + "ms', false) IS NOT NULL THEN"
                + " CASE WHEN pg_advisory_lock" + suffix(mode) + "(?)::text IS NOT NULL THEN " + token + " END"
                + " END";
        try (PreparedStatement statement = session.borrowed.connection.prepareStatement(sql)) {
            session.waits(statement);
            return token(statement, key);
        } finally {
            session.waits(null);
        }
    }

    /** As {@link #tryLock}, after it is made known that releases of this lock are to be told. */
    OptionalLong tryLockAndListen(Connection connection, AdvisoryKey key, LockMode mode) throws SQLException {
        return token(
                connection,
                "SELECT CASE WHEN pg_advisory_lock_shared(" + key.high() + ", " + key.low() + ")::text IS NOT NULL THEN"
                        + " CASE WHEN pg_try_advisory_lock" + suffix(mode) + "(?) THEN " + token + " END END",
                key);
    }

    private OptionalLong token(Connection connection, String sql, AdvisoryKey key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            return token(statement, key);
        }
    }

    private OptionalLong token(PreparedStatement statement, AdvisoryKey key) throws SQLException {
        statement.setLong(1, key.number());
        try (ResultSet result = statement.executeQuery()) {
            result.next();
            long token = result.getLong(1);
            return result.wasNull() ? OptionalLong.empty() : OptionalLong.of(token);
        }
    }

    /** Whether it failed because the lock did not come free in time, or the wait was cancelled. */
    static boolean isEndOfWait(SQLException e) {
        return "55P03".equals(e.getSQLState()) || "57014".equals(e.getSQLState());
    }

    /** Gives the lock back, and has those told who listen, if there are any. */
    static void unlock(Connection connection, AdvisoryKey key, LockMode mode, String channel) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(mode == LockMode.SHARED ? UNLOCK_SHARED : UNLOCK)) {
            statement.setLong(1, key.number());
            statement.setInt(2, key.high());
            statement.setInt(3, key.low());
            statement.setString(4, channel);
            statement.setString(5, key.text());
            statement.execute();
        } catch (SQLException e) {
            // It is given back all the same: that outlasts the failure of its statement.
            if (!PostgresDialect.QUEUE_IS_FULL.equals(e.getSQLState())) {
                throw e;
            }
        }
    }

    private static String unlocking(String suffix) {
        return "SELECT CASE WHEN pg_advisory_unlock" + suffix + "(?) THEN CASE WHEN"
                + " pg_try_advisory_xact_lock(?::int, ?::int) THEN '' ELSE pg_notify(?, ?)::text END END";
    }

    /** What a statement that failed may have taken. */
    static void giveBack(Connection connection, AdvisoryKey key, LockMode mode) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT pg_advisory_unlock" + suffix(mode) + "(?)")) {
            statement.setLong(1, key.number());
            statement.execute();
        }
    }

    /** Releases of this lock need not be told to this session any more. */
    static void listenNoMore(Connection connection, AdvisoryKey key) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_advisory_unlock_shared(" + key.high() + ", " + key.low() + ")");
        }
    }

    private static String suffix(LockMode mode) {
        return mode == LockMode.SHARED ? "_shared" : "";
    }

    /**
     * Raises all later tokens above that floor. Nobody takes one meanwhile: the sequence is locked by a change of it
     * that changes nothing, for which one has to own it.
     */
    void raise(Connection connection, long floor) throws SQLException {
        SqlText.inTransaction(connection, locking -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SET LOCAL lock_timeout = 200");
                statement.execute("SELECT " + PostgresDialect.ON_DISK);
                statement.execute("ALTER SEQUENCE " + table.tokens() + " OWNED BY NONE");
                statement.executeUpdate("INSERT INTO " + table.settings() + " AS s (name, setting) VALUES ('"
                        + SqlText.FLOOR + "', " + floor
                        + ") ON CONFLICT (name) DO UPDATE SET setting = greatest(s.setting, EXCLUDED.setting)");
                statement.execute(
                        "SELECT setval('%1$s', greatest(%2$d, nextval('%1$s')))".formatted(table.tokens(), floor));
                connection.commit();
                return floor;
            }
        });
    }
}
