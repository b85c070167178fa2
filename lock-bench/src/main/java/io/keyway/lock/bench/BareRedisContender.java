// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.util.List;
import java.util.UUID;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.params.SetParams;

/** The limit: {@code SET NX PX} and a script that deletes what is still ours; no queue, no token, no renewal. */
final class BareRedisContender implements Contender {
    private static final String DELETE_IF_OURS =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

    private final RedisClient client;
    private final String digest;

    BareRedisContender(String host, int port) {
        client = RedisClient.create(host, port);
        digest = client.scriptLoad(DELETE_IF_OURS);
    }

    @Override
    public String name() {
        return "bare SET NX";
    }

    /** Gives up if another holds it: there is nothing to wait with. */
    @Override
    public Hold take(String lock) {
        String owner = UUID.randomUUID().toString();
        if (client.set(lock, owner, SetParams.setParams().nx().px(10_000)) == null) {
            throw new IllegalStateException(lock + " is held, and the bare lock cannot wait");
        }
        return () -> client.evalsha(digest, List.of(lock), List.of(owner));
    }

    @Override
    public void close() {
        client.close();
    }
}
