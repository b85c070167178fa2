// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.jdbc.Dialect.Swept;
import io.keyway.lock.jdbc.Lanes.Purpose;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes away rows in which all has been over for long: a part of the table with each statement, so that none takes
 * long. The first client of the table that comes to it does it for all of them.
 */
final class Sweeper {

    private static final Logger LOG = LoggerFactory.getLogger(Sweeper.class);

    /** How long rows stay in which all is over. */
    static final Duration KEPT = Duration.ofHours(1);

    /** How often each client comes to it, about; and twice as often at most it is done. */
    private static final Duration EVERY = Duration.ofMinutes(10);

    /** Of one statement. */
    private static final Duration LIMIT = Duration.ofSeconds(2);

    private final JdbcSettings settings;
    private final Connections connections;
    private final Dialect dialect;
    private final TableName table;

    Sweeper(JdbcSettings settings, Connections connections, Dialect dialect) {
        this.settings = settings;
        this.connections = connections;
        this.dialect = dialect;
        this.table = settings.table();
    }

    void start(LockBackend.Signals signals) {
        signals.background("sweep", this::run);
    }

    private void run() throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(EVERY.toNanos()));
        while (true) {
            try {
                sweep();
                warn();
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                LOG.debug("What is over in {} was not taken away; it is tried again later", table.locks(), e);
            }
            TimeUnit.NANOSECONDS.sleep(
                    EVERY.toNanos() / 2 + ThreadLocalRandom.current().nextLong(EVERY.toNanos()));
        }
    }

    /** Says what endangers locks there by now. */
    private void warn() throws Exception {
        connections.call(Purpose.ASKING, Deadline.after(settings.requestTimeout()), connection -> {
            Schema.warn(settings, dialect.dangers(connection));
            return true;
        });
    }

    /** Returns how many rows are gone; none if another client has done it lately. */
    long sweep() throws Exception {
        Duration lately = EVERY.dividedBy(2);
        if (!connections.call(
                Purpose.ASKING, Deadline.after(LIMIT), connection -> dialect.beginsSweep(connection, table, lately))) {
            return 0;
        }
        long gone = 0;
        for (OptionalLong next = OptionalLong.of(0); next.isPresent(); ) {
            long from = next.getAsLong();
            Swept swept = connections.call(
                    Purpose.ASKING, Deadline.after(LIMIT), connection -> dialect.sweep(connection, table, KEPT, from));
            gone += swept.gone();
            next = swept.next();
        }
        return gone;
    }
}
