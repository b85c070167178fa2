// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.data.ACL;

/**
 * What one client's URL and options come to.
 *
 * @param url masked, for messages
 * @param base the path of the node under which all is kept; begins with a slash
 * @param onlyTerm the term of all sessions, if it does not follow the ttl of the requests
 * @param ttl of requests that do not say another
 * @param sessions for each term
 * @param eager how long to wait for the first connection, if opening waits for it
 */
record ZooKeeperSettings(
        String url,
        ZooKeeperTarget target,
        List<ACL> acl,
        String base,
        Optional<Duration> onlyTerm,
        Duration ttl,
        int sessions,
        Optional<Duration> eager) {

    /** Picks a session for what is about no lock in particular. */
    LockKey anyKey() {
        return LockKey.lock(LockName.of("any"));
    }
}
