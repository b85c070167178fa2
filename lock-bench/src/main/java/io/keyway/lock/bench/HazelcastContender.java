// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.cp.lock.FencedLock;

/** Hazelcast's {@code FencedLock}, of the CP subsystem that its open edition had until 5.4. */
final class HazelcastContender implements Contender {
    private final HazelcastInstance client;

    HazelcastContender(String servers) {
        ClientConfig config = new ClientConfig();
        config.setProperty("hazelcast.phone.home.enabled", "false");
        config.setProperty("hazelcast.logging.type", "slf4j");
        config.getNetworkConfig().addAddress(servers.split(",", -1));
        config.getConnectionStrategyConfig().getConnectionRetryConfig().setClusterConnectTimeoutMillis(-1);
        client = HazelcastClient.newHazelcastClient(config);
    }

    @Override
    public String name() {
        return "hazelcast";
    }

    @Override
    public Hold take(String name) {
        FencedLock lock = client.getCPSubsystem().getLock(name);
        lock.lock();
        return lock::unlock;
    }

    @Override
    public boolean isTaken(String name) {
        FencedLock lock = client.getCPSubsystem().getLock(name);
        if (!lock.tryLock()) {
            return true;
        }
        lock.unlock();
        return false;
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
