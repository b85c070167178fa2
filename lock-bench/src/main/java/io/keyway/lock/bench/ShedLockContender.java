// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbc.JdbcLockProvider;

/** ShedLock's locks in a table. It never waits: for locks that nobody else wants. */
final class ShedLockContender implements Contender {
    private final HikariDataSource pool;
    private final JdbcLockProvider provider;

    ShedLockContender(String url) {
        pool = PostgresContender.pool(url);
        provider = new JdbcLockProvider(pool);
    }

    @Override
    public String name() {
        return "shedlock";
    }

    @Override
    public Hold take(String name) {
        SimpleLock lock = provider.lock(
                        new LockConfiguration(ClockProvider.now(), name, Duration.ofSeconds(15), Duration.ZERO))
                .orElseThrow(() -> new IllegalStateException(name + " was taken"));
        return lock::unlock;
    }

    @Override
    public void close() {
        pool.close();
    }
}
