// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.TokenFloor;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;

/**
 * What one client's URL and options come to.
 *
 * @param url masked, for messages
 * @param source of the sessions
 * @param session what all sessions have in common
 * @param onlyTimeout the timeout of all sessions, if it does not follow the ttl of the requests
 * @param ttl of requests that do not say another
 * @param sessions how many there are for each timeout
 * @param eager how long to wait for the first connection, if opening waits for it
 * @param closing how long closing may wait for the ensemble
 * @param floor of tokens, if the ensemble is to be given one
 * @param threads of this client
 */
record ZooKeeperSettings(
        String url,
        Source source,
        Session.Common session,
        Optional<Duration> onlyTimeout,
        Duration ttl,
        int sessions,
        Optional<Duration> eager,
        Duration closing,
        Optional<TokenFloor> floor,
        ThreadFactory threads) {

    /** Makes the sessions of a client, whose requests hear what befalls them. */
    interface Source {
        Sessions sessions(ZooKeeperSettings settings, RequestNodes requests);
    }

    /** A key that picks a session for what is about no lock in particular. */
    LockKey anyKey() {
        return LockKey.lock(LockName.of("any"));
    }
}
