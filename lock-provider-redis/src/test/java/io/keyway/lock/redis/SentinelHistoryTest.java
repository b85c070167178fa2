// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.redis.server.SentinelSet;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.testing.Nemesis;
import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of a master with two replicas, three sentinels and four clients, all processes, with
 * {@code waitReplicas=2}: servers are killed, stopped and started, with their data, and so are clients and sentinels.
 * No rule is broken, and everybody goes on after the heal. {@code -Dkeyway.seed} and {@code -Dkeyway.histories} choose
 * others.
 */
@Tag("soak")
class SentinelHistoryTest {
    private static final Duration TTL = Duration.ofSeconds(2);
    private static final int WORKERS = 4;
    private static final int NAMES = 8;

    @TempDir
    private Path directory;

    @Test
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void manyHistories() throws Exception {
        int count = Integer.getInteger("keyway.histories", 5);
        long seed = Long.getLong("keyway.seed", 1);
        try (SentinelSet set = SentinelSet.start(
                        RedisExecutable.brought(), directory, "appendonly yes", "appendfsync always");
                Nemesis nemesis = new Nemesis(
                        new WorkerPool(directory, set.url() + "?waitReplicas=2&ttl=2s", NAMES, false),
                        new Faults(set),
                        WORKERS,
                        NAMES,
                        TTL.multipliedBy(3).dividedBy(2))) {
            System.out.println(nemesis.histories(count, seed));
        }
    }

    private static final class Faults implements Nemesis.Servers {
        /**
         * A fail-over takes the sentinels a few seconds; the replicas follow then, without which nothing is granted.
         */
        private static final Duration GO_ON_WITHIN = Duration.ofSeconds(30);

        private final SentinelSet set;
        private final Set<RedisServer> paused = new HashSet<>();

        Faults(SentinelSet set) {
            this.set = set;
        }

        @Override
        public String fault(SplittableRandom random, List<ChildJvm> workers) throws Exception {
            boolean sentinel = random.nextInt(4) == 0;
            List<RedisServer> all = sentinel ? set.sentinels() : set.servers();
            RedisServer server = all.get(random.nextInt(all.size()));
            if (!server.isAlive() || paused.contains(server)) {
                return "";
            }
            String what = (sentinel ? "sentinel " : "server ") + server.port();
            switch (random.nextInt(3)) {
                case 0 -> {
                    server.pause();
                    paused.add(server);
                    return what + " stopped";
                }
                case 1 -> {
                    server.kill();
                    return what + " killed";
                }
                default -> {
                    server.kill();
                    server.restart();
                    return what + " killed and started";
                }
            }
        }

        @Override
        public void heal(List<ChildJvm> workers) throws Exception {
            for (RedisServer server : paused) {
                server.resume();
            }
            paused.clear();
            for (RedisServer sentinel : set.sentinels()) {
                if (!sentinel.isAlive()) {
                    sentinel.restart();
                }
            }
            set.restartDead();
            for (int left = 3; ; left--) {
                try {
                    awaitWhole();
                    return;
                } catch (AssertionError e) {
                    // A fail-over that was under way has made another one the master meanwhile.
                    if (left == 0) {
                        throw e;
                    }
                }
            }
        }

        private void awaitWhole() {
            RedisServer master = set.awaitMaster();
            for (RedisServer server : set.servers()) {
                if (server != master) {
                    set.awaitReplica(server);
                }
            }
        }

        @Override
        public Duration goOnWithin() {
            return GO_ON_WITHIN;
        }

        @Override
        public String logs() {
            return set.servers().stream().map(RedisServer::log).collect(Collectors.joining("\n"));
        }
    }
}
