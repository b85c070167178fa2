// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.testing.Nemesis;
import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of four clients, all processes, which share eight names in a table of PostgreSQL while clients are
 * killed, stopped, ended and started, their backends are terminated or killed, and the server is killed, stopped and
 * started: no two holders (R1), no two believers (R2), time to stop (R3), tokens that rise (R5), expiry neither early
 * nor unnoticed (R7); and everybody goes on after the heal. {@code -Dkeyway.seed} and {@code -Dkeyway.histories} choose
 * others.
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
        int count = Integer.getInteger("keyway.histories", 50);
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
