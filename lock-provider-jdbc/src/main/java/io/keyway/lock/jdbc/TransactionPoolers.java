// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.jdbc.Connections.Borrowed;
import io.keyway.lock.spi.Deadline;
import java.sql.SQLException;
import java.util.OptionalLong;

/**
 * Finds out whether a pool of transactions stands before the server. Behind one a statement of one connection is
 * carried out by the session of another: while one of ours is in a transaction, the other gets another session than
 * before, or both had the same.
 */
final class TransactionPoolers {

    /** Others who use the pool may make a trial look as if there were none. */
    private static final int TRIALS = 3;

    private TransactionPoolers() {}

    /** For locks that are a session's. */
    static void refuse(JdbcSettings settings, Connections connections, Deadline deadline) throws Exception {
        boolean stands;
        try (Borrowed one = connections.borrow(deadline)) {
            stands = stands(one, connections, deadline);
        }
        if (stands) {
            throw new InvalidLockUrlException(settings.url() + ": a pool of transactions, as PgBouncer's, stands"
                    + " between this client and PostgreSQL, so that a lock of a session would be anybody's. Connect"
                    + " to the server itself, or to a pool of sessions, or use lock.mode=table.");
        }
    }

    /**
     * Has connections that are another's before or after be left as they are.
     *
     * @throws InvalidLockUrlException if that cannot be
     */
    static void heed(JdbcSettings settings, Dialect dialect, Connections connections, Deadline deadline)
            throws Exception {
        boolean canLeaveNothing;
        boolean ofTransactions;
        try (Borrowed borrowed = connections.borrow(deadline)) {
            borrowed.limit(deadline);
            if (!dialect.isPooled(borrowed.connection)) {
                return;
            }
            Dialect.Undo undo = dialect.leaveNothing(borrowed.connection).orElse(null);
            canLeaveNothing = undo != null;
            if (undo != null) {
                undo.run();
            }
            ofTransactions = stands(borrowed, connections, deadline);
        }
        if (ofTransactions && !canLeaveNothing) {
            throw new InvalidLockUrlException(settings.url() + ": a pool of transactions, as PgBouncer's, stands"
                    + " between this DataSource and PostgreSQL, and its connections hide the driver, so that it"
                    + " cannot be set to give statements no names: by them one client would carry out the statements"
                    + " of another. Give a DataSource whose connections unwrap to org.postgresql.PGConnection, or"
                    + " leave lock.dataSource out.");
        }
        if (canLeaveNothing) {
            connections.leaveNothing(ofTransactions);
        }
    }

    private static boolean stands(Borrowed one, Connections connections, Deadline deadline) throws Exception {
        try (Borrowed other = connections.borrow(deadline)) {
            one.limit(deadline);
            other.limit(deadline);
            for (int i = 0; i < TRIALS; i++) {
                if (stands(one, other)) {
                    return true;
                }
            }
            return false;
        }
    }

    private static boolean stands(Borrowed one, Borrowed other) throws SQLException {
        long before = AdvisorySql.backend(one.connection);
        OptionalLong beside = SqlText.inTransaction(other.connection, open -> {
            long its = AdvisorySql.backend(open);
            // A pool with one session has none for the second question.
            return its == before || AdvisorySql.backend(one.connection) != before
                    ? OptionalLong.empty()
                    : OptionalLong.of(its);
        });
        return beside.isEmpty() || AdvisorySql.backend(other.connection) != beside.getAsLong();
    }
}
