// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;

/**
 * Locks that belong to a transaction of the application: taken on its own connection, held until the transaction ends,
 * by commit, by rollback or because its connection or the server is gone. What the transaction does is undone in each
 * case in which the lock is lost, so that no token and no lease is needed.
 *
 * <p>They exclude each other, by name, within one database, whatever the schema; they do not exclude leases of a
 * {@link io.keyway.lock.LockClient}, of either mode. In READ COMMITTED, PostgreSQL's default, what follows the lock
 * sees what the transaction before has committed; in REPEATABLE READ it sees what stood when the wait began. A pool of
 * transactions may stand in between. The lock is PostgreSQL's {@code pg_advisory_xact_lock}; names whose numbers of 64
 * bits are the same exclude each other.
 */
public final class JdbcLocks {

    /** What the numbers of these locks are made of beside the name; it must never change. */
    private static final String SET = "keyway transactions";

    private JdbcLocks() {}

    /**
     * Takes the lock of that name for the transaction of that connection, and waits for it as long as
     * {@code lock_timeout} and {@code statement_timeout} of the connection say, without end if they say nothing. A
     * transaction that has it already goes on at once.
     *
     * @param connection in a transaction, or about to begin one by this: not in autocommit; not closed or changed
     * @param name as of a lock: 1 to 16 segments joined by {@code /}, at most 512 bytes
     * @throws IllegalArgumentException if the name is none
     * @throws IllegalStateException if the connection is in autocommit, or that of a standby, whose locks keep nobody
     *     out
     * @throws SQLFeatureNotSupportedException if the database is not PostgreSQL
     * @throws SQLException what the database says, as of a wait that was too long (55P03) or a deadlock (40P01); the
     *     transaction then has to be rolled back
     */
    public static void inTransaction(Connection connection, String name) throws SQLException {
        take(connection, name, "pg_advisory_xact_lock(?)::text IS NOT NULL");
    }

    /**
     * As {@link #inTransaction}, without waiting.
     *
     * @param connection as there
     * @param name as there
     * @return whether the transaction has the lock
     * @throws SQLException as there
     */
    public static boolean tryInTransaction(Connection connection, String name) throws SQLException {
        return take(connection, name, "pg_try_advisory_xact_lock(?)");
    }

    private static boolean take(Connection connection, String name, String lock) throws SQLException {
        AdvisoryKey key = AdvisoryKey.of(SET, LockName.of(name));
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals("PostgreSQL")) {
            throw unsupported(name, product);
        }
        if (connection.getAutoCommit()) {
            throw new IllegalStateException("A lock of a transaction was asked for (" + name + ") on a connection in"
                    + " autocommit: it would end with this very statement. Call setAutoCommit(false) first, or have the"
                    + " transaction begun by your framework.");
        }
        String sql = "SELECT CASE WHEN NOT " + PostgresFitness.IS_POSTGRES + " OR pg_is_in_recovery() THEN NULL ELSE "
                + lock + " END, version(), " + PostgresFitness.IS_POSTGRES;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, key.number());
            try (ResultSet result = statement.executeQuery()) {
                result.next();
                boolean taken = result.getBoolean(1);
                boolean refused = result.wasNull();
                if (!result.getBoolean(3)) {
                    throw unsupported(name, result.getString(2));
                }
                if (refused) {
                    throw new IllegalStateException("A lock of a transaction was asked for (" + name + ") at a standby,"
                            + " whose locks keep nobody out at the primary. Connect to the primary, as by"
                            + " targetServerType=primary.");
                }
                return taken;
            }
        }
    }

    /** What calls itself PostgreSQL may have a stub in place of the lock. */
    private static SQLFeatureNotSupportedException unsupported(String name, String database) {
        return new SQLFeatureNotSupportedException("A lock of a transaction was asked for (" + name + "), which "
                + database + " does not have. Lock a row of your own that is always there (SELECT ... FOR UPDATE), or"
                + " take a lease and write under its token.");
    }
}
