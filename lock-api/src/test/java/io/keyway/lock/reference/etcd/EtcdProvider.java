// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference.etcd;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.reference.ManualTime;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** {@code lock:rows-etcd://name}: locks in the server of that name, on a clock that a test moves. */
public final class EtcdProvider implements LockProvider {

    private static final Map<String, EtcdWorld> WORLDS = new ConcurrentHashMap<>();

    /** As discovery needs it. */
    public EtcdProvider() {}

    /** Returns the server of that name. */
    public static EtcdWorld world(String name) {
        return WORLDS.computeIfAbsent(name, fresh -> new EtcdWorld(new ManualTime()));
    }

    @Override
    public Set<String> schemes() {
        return Set.of("rows-etcd");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Rows in etcd", "1", ProviderInfo.API_LEVEL, List.of());
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return EtcdRows.FEATURES;
    }

    @Override
    public Scope scope(LockUrl url) {
        return Scope.JVM;
    }

    @Override
    public LockClient open(OpenRequest request) {
        EtcdWorld world = world(request.url().hosts().get(0).name());
        EtcdRows rows = new EtcdRows(world.etcd(), world.time()::nanoTime);
        LockClient client = request.withTime(world.time()).over(rows);
        world.opened(client);
        return client;
    }
}
