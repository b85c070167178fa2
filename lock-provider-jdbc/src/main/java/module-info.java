// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Locks, leases and semaphores in a SQL database. */
module io.keyway.lock.jdbc {
    requires transitive io.keyway.lock;
    requires transitive java.sql;
    requires static org.jspecify;
    requires com.zaxxer.hikari;
    requires org.slf4j;

    exports io.keyway.lock.jdbc;

    provides io.keyway.lock.spi.LockProvider with
            io.keyway.lock.jdbc.JdbcProvider;
}
