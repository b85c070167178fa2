// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.Optional;
import org.apache.curator.ensemble.EnsembleProvider;
import org.apache.curator.ensemble.fixed.FixedEnsembleProvider;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * Where the ensemble is and how to connect to it.
 *
 * @param servers as ZooKeeper writes them: host:port, joined by commas
 * @param digest user and password, joined by a colon
 */
record ZooKeeperTarget(String servers, Optional<String> digest, ZKClientConfig config) {

    EnsembleProvider ensemble() {
        return new FixedEnsembleProvider(servers);
    }

    @Override
    public String toString() {
        return servers;
    }
}
