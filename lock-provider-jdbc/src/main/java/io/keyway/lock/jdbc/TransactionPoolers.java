// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.jdbc.Connections.Borrowed;
import io.keyway.lock.spi.Deadline;

/**
 * Finds out whether a pool of transactions stands before the server. Behind one a statement of one connection is
 * carried out by the session of another: while one of ours is in a transaction, the other gets another session than
 * before, or both had the same.
 */
final class TransactionPoolers {

    private TransactionPoolers() {}

    static void refuse(JdbcSettings settings, Connections connections, Deadline deadline) throws Exception {
        try (Borrowed one = connections.borrow();
                Borrowed other = connections.borrow()) {
            one.limit(deadline);
            other.limit(deadline);
            long before = AdvisorySql.backend(one.connection);
            long beside;
            long after;
            other.connection.setAutoCommit(false);
            try {
                beside = AdvisorySql.backend(other.connection);
                after = AdvisorySql.backend(one.connection);
            } finally {
                other.connection.rollback();
                other.connection.setAutoCommit(true);
            }
            if (before == beside || before != after || AdvisorySql.backend(other.connection) != beside) {
                throw new InvalidLockUrlException(settings.url() + ": a pool of transactions, as PgBouncer's, stands"
                        + " between this client and PostgreSQL, so that a lock of a session would be anybody's. Connect"
                        + " to the server itself, or to a pool of sessions, or use lock.mode=table.");
            }
        }
    }
}
