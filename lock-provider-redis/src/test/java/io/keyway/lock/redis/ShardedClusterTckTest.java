// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.redis.server.RedisExecutable;
import org.junit.jupiter.api.Tag;

/** All of the kit on a cluster whose wake-ups go by sharded messages. */
@Tag("soak")
class ShardedClusterTckTest extends ClusterTckTest {

    @Override
    RedisExecutable executable() {
        return RedisExecutable.since(ServerCheck.SHARDED_SINCE);
    }
}
