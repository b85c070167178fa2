// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.PgBouncer;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.testing.Nemesis;
import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of four clients, all processes, which share eight names in a table of PostgreSQL while clients are
 * killed, stopped, ended and started, their backends are terminated or killed, and the server is killed, stopped and
 * started: no two holders (R1), no two believers (R2), time to stop (R3), tokens that rise (R5), expiry neither early
 * nor unnoticed (R7); and everybody goes on after the heal. {@code -Dkeyway.seed} and {@code -Dkeyway.histories} choose
 * others. The same through PgBouncer, whose sessions lead to a standby now and then.
 */
@Tag("soak")
class PostgresHistoryTest {
    private static final Duration TTL = Duration.ofSeconds(2);
    private static final Duration GO_ON_WITHIN = Duration.ofSeconds(60);
    private static final int WORKERS = 4;
    private static final int NAMES = 8;

    @TempDir
    private Path directory;

    @Test
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void manyHistories() throws Exception {
        int count = Integer.getInteger("keyway.histories", 5);
        long seed = Long.getLong("keyway.seed", 1);
        PostgresServer server = PostgresServer.shared();
        String url = server.url("histories") + "&lock.ttl=" + TTL.toMillis() + "ms&lock.requestTimeout=1s";
        try (Nemesis nemesis = new Nemesis(
                new WorkerPool(directory, url, NAMES, false),
                new Faults(server),
                WORKERS,
                NAMES,
                TTL.multipliedBy(3).dividedBy(2))) {
            System.out.println(nemesis.histories(count, seed));
        }
    }

    /** Behind a real PgBouncer, which leads to the primary or to a standby that takes no writes and is behind. */
    @Test
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void manyHistoriesThroughAPoolWithFailOversToAStandby() throws Exception {
        int count = Integer.getInteger("keyway.histories", 5);
        long seed = Long.getLong("keyway.seed", 1);
        try (PostgresServer primary = PostgresServer.own()) {
            try (LockClient first = Locks.open("lock:" + primary.driverUrl())) {
                first.lock("made").acquire().close();
            }
            try (PostgresServer standby = primary.standby(false);
                    FaultProxy way = FaultProxy.to(primary.address());
                    PgBouncer bouncer = PgBouncer.before(way.address().getPort(), "transaction");
                    Nemesis nemesis = new Nemesis(
                            new WorkerPool(
                                    directory,
                                    "lock:" + bouncer.driverUrl() + "&lock.ttl=" + TTL.toMillis()
                                            + "ms&lock.requestTimeout=1s",
                                    NAMES,
                                    false),
                            new PoolFaults(primary, standby, way, bouncer),
                            WORKERS,
                            NAMES,
                            TTL.multipliedBy(3).dividedBy(2))) {
                System.out.println(nemesis.histories(count, seed));
            }
        }
    }

    /** What is done to the pool, and to what it leads to. */
    private static final class PoolFaults implements Nemesis.Servers {
        private final PostgresServer primary;
        private final PostgresServer standby;
        private final FaultProxy way;
        private final PgBouncer bouncer;
        private boolean paused;

        PoolFaults(PostgresServer primary, PostgresServer standby, FaultProxy way, PgBouncer bouncer) {
            this.primary = primary;
            this.standby = standby;
            this.way = way;
            this.bouncer = bouncer;
        }

        @Override
        public String fault(SplittableRandom random, List<ChildJvm> workers) throws Exception {
            return switch (random.nextInt(7)) {
                case 0 -> {
                    way.redirect(standby.address());
                    way.reset();
                    yield "to the standby";
                }
                case 1 -> {
                    // What was held by then and not renewed is free at the primary, where all ask at once.
                    way.redirect(standby.address());
                    way.reset();
                    LockSupport.parkNanos(TTL.toNanos() + random.nextLong(TTL.toNanos() / 8));
                    way.redirect(primary.address());
                    way.reset();
                    yield "to the standby for as long as a lease lasts";
                }
                case 2 -> {
                    way.redirect(primary.address());
                    way.reset();
                    yield "to the primary";
                }
                case 3 -> {
                    // Some sessions of the pool lead to the one, some to the other.
                    way.redirect(random.nextBoolean() ? standby.address() : primary.address());
                    yield "new sessions elsewhere";
                }
                case 4 -> {
                    way.reset();
                    yield "sessions of the pool cut";
                }
                case 5 -> {
                    primary.kill();
                    primary.restart();
                    yield "primary killed and started";
                }
                default -> {
                    if (paused) {
                        yield "";
                    }
                    bouncer.pause();
                    paused = true;
                    yield "pool stopped";
                }
            };
        }

        @Override
        public void heal(List<ChildJvm> workers) throws Exception {
            way.redirect(primary.address());
            way.reset();
            if (paused) {
                bouncer.resume();
            }
            paused = false;
            Signals.until("PostgreSQL serves", GO_ON_WITHIN, primary::serves);
        }

        @Override
        public Duration goOnWithin() {
            return GO_ON_WITHIN;
        }
    }

    /** What is done to the database. */
    private static final class Faults implements Nemesis.Servers {
        private final PostgresServer server;
        private boolean paused;
        private boolean killed;

        Faults(PostgresServer server) {
            this.server = server;
        }

        @Override
        public String fault(SplittableRandom random, List<ChildJvm> workers) throws Exception {
            if (paused || killed || !server.serves()) {
                return "";
            }
            return switch (random.nextInt(6)) {
                case 0 -> {
                    server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE"
                            + " 'keyway %'");
                    yield "all backends of clients terminated";
                }
                case 1 -> {
                    server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE"
                            + " 'keyway %' ORDER BY random() LIMIT 1");
                    yield "a backend of a client terminated";
                }
                case 2 -> {
                    // The server then ends all others, too, and recovers.
                    server.killBackend("application_name LIKE 'keyway %'");
                    yield "a backend of a client killed";
                }
                case 3 -> {
                    server.pause();
                    paused = true;
                    yield "server stopped";
                }
                case 4 -> {
                    server.kill();
                    killed = true;
                    yield "server killed";
                }
                default -> {
                    server.kill();
                    server.restart();
                    yield "server killed and started";
                }
            };
        }

        @Override
        public void heal(List<ChildJvm> workers) throws Exception {
            if (paused) {
                server.resume();
            }
            if (killed) {
                server.restart();
            }
            paused = false;
            killed = false;
            Signals.until("PostgreSQL serves", GO_ON_WITHIN, server::serves);
        }

        @Override
        public Duration goOnWithin() {
            return GO_ON_WITHIN;
        }
    }
}
