// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.verbs;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Scope;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.util.List;
import java.util.Set;

/** {@code lock:map://x}: opens the backend that shows verbs of one's own. */
public final class MapProvider implements LockProvider {

    private static final MapBackend.Store STORE = new MapBackend.Store();

    /** As discovery needs it. */
    public MapProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("map");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Map", "1", ProviderInfo.API_LEVEL, List.of());
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return MapBackend.FEATURES;
    }

    @Override
    public Scope scope(LockUrl url) {
        return Scope.JVM;
    }

    @Override
    public LockClient open(OpenRequest request) {
        return request.over(new MapBackend(STORE));
    }
}
