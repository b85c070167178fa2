// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import com.zaxxer.hikari.HikariDataSource;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/** Spring Integration's locks in a table, as its documentation sets them up. */
final class SpringContender implements Contender {
    private final HikariDataSource pool;
    private final JdbcLockRegistry registry;

    SpringContender(String url) {
        pool = PostgresContender.pool(url);
        DefaultLockRepository repository = new DefaultLockRepository(pool);
        repository.setTransactionManager(new DataSourceTransactionManager(pool));
        repository.afterPropertiesSet();
        repository.afterSingletonsInstantiated();
        repository.start();
        registry = new JdbcLockRegistry(repository);
    }

    @Override
    public String name() {
        return "spring";
    }

    @Override
    public Hold take(String name) {
        Lock lock = registry.obtain(name);
        lock.lock();
        return lock::unlock;
    }

    @Override
    public void close() {
        pool.close();
    }
}
