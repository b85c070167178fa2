// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Probe;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** Turns what an engine says of its connections into events, and leads what it is told of waiters to their agents. */
final class ConnectionEvents implements LockEngine.Observer {

    private final ClientContext client;
    private final Map<String, Long> connectedAt = new ConcurrentHashMap<>();
    private final Map<String, Long> quorumSince = new ConcurrentHashMap<>();
    private final Map<String, Long> readySince = new ConcurrentHashMap<>();

    ConnectionEvents(ClientContext client) {
        this.client = client;
    }

    @Override
    public void connected(String server) {
        connectedAt.put(server, client.time().nanoTime());
        tell(LockEvent.Type.CONNECTED, server, 0);
    }

    @Override
    public void disconnected(String server, String why) {
        Long since = connectedAt.remove(server);
        tell(
                LockEvent.Type.DISCONNECTED,
                server,
                since == null ? 0 : client.time().nanoTime() - since);
    }

    @Override
    public void clusterChanged(LockEvent.Type type, String server) {
        long now = client.time().nanoTime();
        boolean quorum = type == LockEvent.Type.CLUSTER_UP || type == LockEvent.Type.CLUSTER_DOWN;
        Long since = (quorum ? quorumSince : readySince).put(server, now);
        tell(type, server, since == null ? 0 : now - since);
    }

    @Override
    public void probed(LockKey key, long token, long ahead, Probe probe) {
        client.transactions().probed(key, token, ahead, probe);
    }

    @Override
    public void awaitDelivery(Duration limit) {
        client.events().flush(limit);
    }

    private void tell(LockEvent.Type type, String server, long afterNanos) {
        client.tell(type, null, OptionalLong.empty(), Optional.of(server), afterNanos);
    }
}
