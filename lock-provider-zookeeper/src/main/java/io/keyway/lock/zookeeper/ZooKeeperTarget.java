// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.spi.NotExecutedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * Where the ensemble is and how to connect to it.
 *
 * @param servers as ZooKeeper writes them: host:port, joined by commas
 * @param digest user and password, joined by a colon
 */
record ZooKeeperTarget(String servers, Optional<String> digest, ZKClientConfig config) {

    /** Returns at once; the watcher hears when a server has answered. */
    Handle connect(int timeoutMillis, Watcher watcher) throws NotExecutedException {
        try {
            HostProvider addresses = new StaticHostProvider(new ConnectStringParser(servers).getServerAddresses());
            Handle handle = new Handle(servers, timeoutMillis, watcher, new Redial(addresses, timeoutMillis), config);
            digest.ifPresent(secret -> handle.addAuthInfo("digest", secret.getBytes(StandardCharsets.UTF_8)));
            return handle;
        } catch (IOException e) {
            throw new NotExecutedException("no client for " + servers + " could be made: " + e.getMessage(), e);
        }
    }

    /** What is said to whoever the ensemble does not let in. */
    InvalidLockUrlException refusal(Exception cause) {
        return new InvalidLockUrlException(
                "The ensemble " + servers + " refused the credentials of this client. With SASL they are those of the"
                        + " section Client of its JAAS configuration; the log of org.apache.zookeeper says more.",
                cause);
    }

    @Override
    public String toString() {
        return servers;
    }
}
