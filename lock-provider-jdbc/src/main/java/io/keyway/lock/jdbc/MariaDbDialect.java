// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.kit.table.RowStore.Page;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import io.keyway.lock.spi.Deadline;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * MariaDB from 10.6 on, by its own driver or MySQL's. A write is one compound statement, that is one round trip: a
 * transaction of its own in READ COMMITTED, whatever the session's level is. Each write carries a random number into
 * its row, by which the answer says whose write stands there: an UPDATE returns nothing.
 */
final class MariaDbDialect implements Dialect {

    private static final int SWEPT_AT_ONCE = 1000;
    private static final Pattern VERSION = Pattern.compile("(?:5\\.5\\.5-)?(\\d+)\\.(\\d+)\\..*");

    @Override
    public String name() {
        return "MariaDB";
    }

    @Override
    public List<String> ddl(TableName table) {
        return MariaDbStatements.ddl(table);
    }

    @Override
    public Properties driver(String client, Duration connectTimeout, Duration requestTimeout) {
        String millis = Long.toString(Math.max(1, connectTimeout.toMillis()));
        Properties driver = new Properties();
        driver.setProperty("connectTimeout", millis);
        // While a connection is made; each call sets its own.
        driver.setProperty("socketTimeout", millis);
        driver.setProperty("tcpKeepAlive", "true");
        driver.setProperty("connectionAttributes", "program_name:keyway " + client.replaceAll("[:,]", " "));
        return driver;
    }

    /** What a client leaves behind that no longer reads its answers ends, too. */
    @Override
    public void begin(Connection connection, Duration requestTimeout) throws SQLException {
        long millis = Math.max(1, requestTimeout.toMillis());
        long seconds = (millis + 999) / 1000;
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION innodb_lock_wait_timeout = " + seconds + ", max_statement_time = " + millis
                    + " / 1000, idle_transaction_timeout = " + seconds);
        }
    }

    @Override
    public Failure failure(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        return switch (e.getErrorCode()) {
            // A deadlock; a lock that was waited for too long; a row that has changed since the snapshot.
            case 1213, 1205, 1020 -> Failure.REPEAT;
            // A password, or a right that is missing; no such database, or none in the URL.
            case 1044, 1045, 1046, 1049, 1142, 1143, 1227, 1370, 1698 -> Failure.UNWELCOME;
            // The server takes no writes.
            case 1290, 1792, 1836 -> Failure.READ_ONLY;
            // Killed within its transaction, which is open still; a transaction that is open.
            case 1317, 1969, 1568 -> Failure.UNKNOWN;
            default ->
                state.startsWith("42") || state.startsWith("22") || state.startsWith("23")
                        ? Failure.REFUSED
                        : Failure.UNKNOWN;
        };
    }

    @Override
    public List<String> dangers(Connection connection) throws SQLException {
        Map<String, String> said = variables(connection);
        List<String> dangers = new ArrayList<>();
        String flush = said.getOrDefault("innodb_flush_log_at_trx_commit", "1");
        if (flush.equals("0") || flush.equals("2")) {
            dangers.add("answers before what it did is on disk (innodb_flush_log_at_trx_commit=" + flush + "): when "
                    + (flush.equals("0") ? "it" : "its machine") + " fails, locks of the last moments are lost, and"
                    + " given to others. Set it to 1.");
        }
        if (isOn(said, "log_bin") && said.getOrDefault("sync_binlog", "1").equals("0")) {
            dangers.add("does not wait until its binary log is on disk (sync_binlog=0): when its machine fails, it"
                    + " rolls back what that log lacks, and locks of the last moments are lost. Set it to 1.");
        }
        if (isOn(said, "wsrep_on")) {
            dangers.add("is a node of a Galera cluster, with which locks were not tried: a node that fails may take"
                    + " grants of the last moments with it.");
        }
        return dangers;
    }

    @Override
    public Optional<String> obstacle(Connection connection) throws SQLException {
        Map<String, String> said = variables(connection);
        String version = said.getOrDefault("version", "");
        Matcher matcher = VERSION.matcher(version);
        if (!version.contains("MariaDB") || !matcher.matches()) {
            return Optional.of("is no MariaDB but " + said.getOrDefault("version_comment", "MySQL") + " " + version
                    + ", which lacks what locks need here, as sequences. Use MariaDB 10.6 or later, or PostgreSQL.");
        }
        int major = Integer.parseInt(matcher.group(1));
        if (major < 10 || (major == 10 && Integer.parseInt(matcher.group(2)) < 6)) {
            return Optional.of("is MariaDB " + version + ". Locks need 10.6 or later.");
        }
        if (!said.getOrDefault("read_only", "OFF").matches("(?i)OFF|0") || isOn(said, "innodb_read_only")) {
            return Optional.of(
                    "is for reading only (read_only), as a replica is. Name the primary: locks are" + " written.");
        }
        if (isOn(said, "tx_read_only")) {
            return Optional.of("lets this user read only (tx_read_only). Locks are written.");
        }
        if (isOn(said, "log_bin") && said.getOrDefault("binlog_format", "").equalsIgnoreCase("STATEMENT")) {
            return Optional.of("logs statements for its replicas (binlog_format=STATEMENT), which transactions in"
                    + " READ COMMITTED cannot be. Set it to MIXED, the default, or ROW.");
        }
        return Optional.empty();
    }

    private static boolean isOn(Map<String, String> variables, String name) {
        return variables.getOrDefault(name, "OFF").matches("(?i)ON|1");
    }

    private static Map<String, String> variables(Connection connection) throws SQLException {
        Map<String, String> said = new HashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SHOW SESSION VARIABLES WHERE Variable_name IN ('version',"
                        + " 'version_comment', 'read_only', 'innodb_read_only', 'tx_read_only', 'log_bin',"
                        + " 'binlog_format', 'sync_binlog', 'innodb_flush_log_at_trx_commit', 'wsrep_on')")) {
            while (result.next()) {
                said.put(result.getString(1), result.getString(2));
            }
        }
        return said;
    }

    @Override
    public boolean hasTables(Connection connection, TableName table) throws SQLException {
        int dot = table.locks().indexOf('.');
        String sql = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = "
                + (dot < 0 ? "DATABASE()" : "'" + table.locks().substring(0, dot) + "'")
                + " AND table_name IN ('" + table.locks().substring(dot + 1) + "', '"
                + table.tokens().substring(dot + 1) + "', '" + table.settings().substring(dot + 1) + "')";
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getInt(1) == 3;
        }
    }

    @Override
    public List<Stored> read(Connection connection, TableName table, List<LockKey> keys) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(MariaDbStatements.read(table, keys.size()))) {
            for (int i = 0; i < keys.size(); i++) {
                statement.setString(i + 1, RowId.of(keys.get(i)));
            }
            return answer(statement, result -> SqlText.read(result, keys));
        }
    }

    /** Notices are for databases that can tell. */
    @Override
    public List<Written> write(Connection connection, TableName table, List<Write> writes, List<List<Notice>> notices)
            throws SQLException {
        boolean claims = writes.get(0).expected() == RowStore.IF_FREE;
        String sql =
                claims ? MariaDbStatements.claim(table, writes.size()) : MariaDbStatements.change(table, writes.size());
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            MariaDbStatements.bind(statement, writes);
            return answer(statement, result -> SqlText.written(result, writes));
        }
    }

    @Override
    public boolean locksRows() {
        return true;
    }

    @Override
    public Written writeLocked(
            Connection connection,
            TableName table,
            LockKey key,
            Deadline deadline,
            Function<Stored, Optional<Locked>> decision)
            throws SQLException {
        int seconds = deadline.seconds();
        long[] idleBefore = {seconds};
        try {
            return SqlText.inTransaction(connection, locking -> {
                LockedRow row = lock(connection, table, key, seconds);
                idleBefore[0] = row.idleBefore;
                SqlText.refuseStandby(row.isReplica);
                SqlText.refuseUnreadable(row.stands, key, table);
                return writeAndCommit(connection, table, row.stands, decision);
            });
        } finally {
            if (idleBefore[0] != seconds) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(MariaDbStatements.idle(Long.toString(idleBefore[0])));
                }
            }
        }
    }

    /** Writes a row that is locked, and ends the transaction. */
    private static Written writeAndCommit(
            Connection connection, TableName table, Stored stands, Function<Stored, Optional<Locked>> decision)
            throws SQLException {
        Optional<Locked> locked = stands.version() == 0 ? Optional.empty() : decision.apply(stands);
        if (locked.isEmpty()) {
            return new Written(false, stands);
        }
        List<Write> writes = List.of(locked.get().write());
        Written written;
        try (PreparedStatement statement = connection.prepareStatement(MariaDbStatements.changeLocked(table))) {
            MariaDbStatements.bind(statement, writes);
            written =
                    answer(statement, result -> SqlText.written(result, writes)).get(0);
        }
        connection.commit();
        return written;
    }

    /** A row that is locked, on what server, and how many seconds a transaction might be idle there before. */
    private record LockedRow(Stored stands, boolean isReplica, long idleBefore) {}

    private static LockedRow lock(Connection connection, TableName table, LockKey key, int seconds)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(MariaDbStatements.lock(table))) {
            statement.setInt(1, seconds);
            statement.setString(2, RowId.of(key));
            return answer(statement, result -> {
                result.next();
                Stored stands = result.getString(1) == null
                        ? new Stored(Row.FREE, 0, result.getLong(5) * 1000)
                        : SqlText.stored(key, result);
                return new LockedRow(stands, result.getInt(6) != 0, result.getLong(7));
            });
        }
    }

    private interface Reader<T> {
        T from(ResultSet result) throws SQLException;
    }

    /** The one result among those of a statement, which is over when all were taken: its end may be a failure. */
    private static <T> T answer(PreparedStatement statement, Reader<T> reader) throws SQLException {
        Optional<T> answer = Optional.empty();
        boolean rows = statement.execute();
        while (rows || statement.getUpdateCount() != -1) {
            if (rows) {
                try (ResultSet result = statement.getResultSet()) {
                    answer = Optional.of(reader.from(result));
                }
            }
            rows = statement.getMoreResults();
        }
        return answer.orElseThrow(() -> new SQLException("the statement ended without its answer", "HY000"));
    }

    @Override
    public Page list(Connection connection, TableName table, String prefix, String after, int max) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(MariaDbStatements.list(table))) {
            SqlText.listing(statement, prefix, after, max);
            return answer(statement, result -> SqlText.listed(result, max));
        }
    }

    @Override
    public boolean beginsSweep(Connection connection, TableName table, Duration lately) throws SQLException {
        return SqlText.beginsSweep(connection, table, MariaDbStatements.IN_UTC, MariaDbStatements.NOW, lately);
    }

    /** In two steps, so that only rows that go are locked. A row that comes again is made first, and numbered then. */
    @Override
    public Swept sweep(Connection connection, TableName table, Duration kept, long from) throws SQLException {
        List<String> ids = new ArrayList<>();
        try (PreparedStatement statement =
                connection.prepareStatement(MariaDbStatements.over(table, kept, SWEPT_AT_ONCE))) {
            answer(statement, result -> {
                while (result.next()) {
                    ids.add(result.getString(1));
                }
                return ids;
            });
        }
        if (ids.isEmpty()) {
            return new Swept(0, OptionalLong.empty());
        }
        try (PreparedStatement statement =
                connection.prepareStatement(MariaDbStatements.delete(table, kept, ids.size()))) {
            for (int i = 0; i < ids.size(); i++) {
                statement.setString(i + 1, ids.get(i));
            }
            statement.execute();
            boolean more = ids.size() == SWEPT_AT_ONCE;
            return new Swept(statement.getUpdateCount(), more ? OptionalLong.of(from) : OptionalLong.empty());
        }
    }

    @Override
    public OptionalLong floor(Connection connection, TableName table) throws SQLException {
        return SqlText.floor(connection, table);
    }

    /** A sequence is never set back by this. */
    @Override
    public void raise(Connection connection, TableName table, long floor) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("INSERT INTO " + table.settings() + " (name, setting) VALUES ('" + SqlText.FLOOR
                    + "', " + floor + ") ON DUPLICATE KEY UPDATE setting = GREATEST(setting, VALUES(setting))");
            statement.execute("DO SETVAL(" + table.tokens() + ", " + floor + ")");
        }
    }

    @Override
    public boolean writesAtOnce() {
        return true;
    }

    @Override
    public boolean tells() {
        return false;
    }

    @Override
    public Optional<Channel> channel(Connection connection) {
        return Optional.empty();
    }
}
