// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Whether a database of PostgreSQL is fit for locks. */
final class PostgresFitness {

    /** Names are text of Unicode; without an encoding the server keeps what it is given. */
    private static final List<String> ENCODINGS = List.of("UTF8", "SQL_ASCII");

    /**
     * An expression: whether the database is PostgreSQL. Others that speak its protocol may have stubs of its functions
     * that do nothing, as of advisory locks; those made from its code begin their version with its name.
     */
    static final String IS_POSTGRES =
            "(version() LIKE 'PostgreSQL %' AND version() !~ '-YB-|Greenplum|Materialize|Redshift')";

    private PostgresFitness() {}

    /**
     * Asks for how many keep old versions of rows, by how many transactions ago they began: of transactions that last
     * for so long, and of replicas and slots, which always lag a little, when that is much. The server's own workers
     * and VACUUM do not count: they end by themselves, and most of them keep nothing.
     */
    static String oldSnapshots(String lasting) {
        return "SELECT count(*) FROM (SELECT age(backend_xmin) AS age, xact_start AS since FROM pg_stat_activity"
                + " WHERE (datname = current_database() OR datname IS NULL)"
                + " AND backend_type IS DISTINCT FROM 'autovacuum worker'"
                + " AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum) UNION ALL"
                + " SELECT age(xmin), NULL FROM pg_replication_slots UNION ALL"
                + " SELECT age(transaction), prepared FROM pg_prepared_xacts WHERE database = current_database()) AS s"
                + " WHERE age > CASE WHEN since < clock_timestamp() - interval '" + lasting
                + "' THEN 10000 ELSE 1000000 END";
    }

    static List<String> dangers(Connection connection) throws SQLException {
        List<String> dangers = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet result =
                        statement.executeQuery("SELECT current_setting('fsync'), (" + oldSnapshots("1 minute") + ")")) {
            result.next();
            if (result.getString(1).equals("off")) {
                dangers.add("does not write to its disk what it commits (fsync=off): when its machine fails, locks"
                        + " that are held are lost, and given to others. Set fsync to on.");
            }
            if (result.getLong(2) > 0) {
                dangers.add("has a transaction, a replica or a slot that is far behind: until it ends the server keeps"
                        + " each version of each row, and a lock that is taken often becomes slower and slower. The"
                        + " page docs/providers/jdbc.md has the query that finds it.");
            }
        }
        return dangers;
    }

    static Optional<String> obstacle(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT pg_is_in_recovery(),"
                        + " current_setting('transaction_read_only'), current_setting('server_encoding'), version(), "
                        + IS_POSTGRES)) {
            result.next();
            if (!result.getBoolean(5)) {
                return Optional.of("speaks as PostgreSQL does but is another one (" + result.getString(4)
                        + "), with which locks were not tried. Use PostgreSQL.");
            }
            if (result.getBoolean(1)) {
                return Optional.of("is a standby, which takes no locks. Name the primary; with several hosts in the"
                        + " URL add targetServerType=primary.");
            }
            if (result.getString(2).equals("on")) {
                return Optional.of("lets this user read only (default_transaction_read_only). Locks are written.");
            }
            return ENCODINGS.contains(result.getString(3))
                    ? Optional.empty()
                    : Optional.of("has the encoding " + result.getString(3) + ", which lacks letters that names of"
                            + " locks and of clients may have. Make one by CREATE DATABASE ... ENCODING 'UTF8'"
                            + " TEMPLATE template0 and name it in the URL.");
        }
    }
}
