// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.redis.server.RedisCluster;
import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** All of the kit on a cluster of three masters, each behind a proxy, that crash and stand still together. */
@Tag("soak")
class ClusterTckTest extends LockTck {
    @TempDir
    private Path directory;

    @AutoClose
    private RedisCluster cluster;

    RedisExecutable executable() {
        return RedisExecutable.brought();
    }

    @Override
    protected TckSubject subject() throws Exception {
        cluster = RedisCluster.start(executable(), directory);
        return TckSubject.of(cluster.url())
                .withServer(cluster::kill, cluster::restart)
                .withPause(
                        () -> {
                            for (RedisServer server : cluster.servers()) {
                                server.pause();
                            }
                        },
                        () -> {
                            for (RedisServer server : cluster.servers()) {
                                server.resume();
                            }
                        });
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }
}
