// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The servers of the tests do what the tests take for granted. */
@Tag("soak")
class ServersTest {
    @TempDir
    private Path directory;

    @Test
    void aServerKeepsItsDataOverACrashUnlessTheyAreTaken() throws Exception {
        for (RedisExecutable executable : RedisExecutable.all()) {
            try (RedisServer server = RedisServer.start(executable, directory)) {
                server.ask("SET", "a", "1");
                server.kill();
                assertThat(server.isAlive()).isFalse();
                server.restart();
                assertThat(server.ask("GET", "a")).isEqualTo("1");
                server.kill();
                server.restartEmpty();
                assertThat(server.ask("GET", "a")).isEqualTo("");
            }
        }
    }

    @Test
    void sentinelsReplaceAMasterThatIsKilledAndItComesBackAsReplica() throws Exception {
        for (RedisExecutable executable : RedisExecutable.all()) {
            try (SentinelSet set = SentinelSet.start(executable, directory)) {
                RedisServer first = set.awaitMaster();
                first.ask("SET", "a", "1");
                first.ask("WAIT", "2", "5000");
                first.kill();
                RedisServer second = set.awaitOtherMaster(first);
                assertThat(second.ask("GET", "a")).isEqualTo("1");
                first.restart();
                set.awaitReplica(first);
                assertThat(set.awaitMaster()).isNotSameAs(first);
            }
        }
    }

    @Test
    void slotsOfAClusterMoveWithTheirKeys() throws Exception {
        for (RedisExecutable executable : RedisExecutable.all()) {
            try (RedisCluster cluster = RedisCluster.start(executable, directory)) {
                int slot = cluster.slot("a");
                RedisServer from = cluster.owner(slot);
                RedisServer to = cluster.notOwner(slot);
                from.ask("SET", "a", "1");
                cluster.beginMove(slot, to);
                assertThat(cluster.owner(slot)).isSameAs(from);
                cluster.finishMove(slot, to);
                assertThat(cluster.owner(slot)).isSameAs(to);
                assertThat(to.ask("GET", "a")).isEqualTo("1");
                cluster.kill();
                cluster.restart();
                assertThat(to.ask("GET", "a")).isEqualTo("1");
            }
        }
    }
}
