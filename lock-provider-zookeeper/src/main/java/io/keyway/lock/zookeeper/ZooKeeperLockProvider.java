// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockUrl;
import io.keyway.lock.spi.LockProvider;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.ProviderInfo;
import java.util.Optional;
import java.util.Set;

/**
 * {@code lock:zookeeper://z1:2181,z2:2181/path}: locks in a ZooKeeper ensemble. Whoever looks for another provider
 * loads nothing of ZooKeeper's by it.
 */
public final class ZooKeeperLockProvider implements LockProvider {

    /** As discovery needs it. */
    public ZooKeeperLockProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("zookeeper");
    }

    @Override
    public ProviderInfo info() {
        return new ProviderInfo("Keyway ZooKeeper", "0.1.0", ProviderInfo.API_LEVEL, ZooKeeperOptions.ALL);
    }

    @Override
    public Set<Feature> features(LockUrl url) {
        return ZooKeeperBackend.FEATURES;
    }

    @Override
    public Optional<LockUrl> testUrl(LockUrl url, String word) {
        return Optional.of(url.withPath(Connector.base(url) + "/tck-" + word));
    }

    @Override
    public LockClient open(OpenRequest request) {
        return request.over(new ZooKeeperBackend(Connector.settings(request)));
    }
}
