// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.redis.server.RedisExecutable;
import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.redis.server.SentinelSet;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.junit.LockTck;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * All of the kit on a master with two replicas and three sentinels, each behind a proxy. The master is killed and comes
 * back with its data before a fail-over; those are in FailoverTest, since they may lose what was granted.
 */
@Tag("soak")
class SentinelTckTest extends LockTck {
    @TempDir
    private Path directory;

    @AutoClose
    private SentinelSet set;

    private RedisServer paused;

    @Override
    protected TckSubject subject() throws Exception {
        set = SentinelSet.start(RedisExecutable.brought(), directory);
        return TckSubject.of(set.url())
                .withServers(set.servers().stream().map(RedisServer::address).toList())
                .withServer(() -> set.awaitMaster().kill(), set::restartDead)
                .withPause(
                        () -> {
                            paused = set.awaitMaster();
                            paused.pause();
                        },
                        () -> paused.resume());
    }

    @Override
    protected TckConfig config() {
        return TckConfig.of(Profile.FULL);
    }
}
