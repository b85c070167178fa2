// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.TokenFloor;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import org.apache.curator.framework.api.ACLProvider;

/**
 * What one client's URL and options come to.
 *
 * @param url masked, for messages
 * @param servers of the ensemble, for messages
 * @param source of the sessions
 * @param acl who may do what with the nodes
 * @param base the path of the node under which all is kept; begins with a slash
 * @param onlyTerm the term of all sessions, if it does not follow the ttl of the requests
 * @param ttl of requests that do not say another
 * @param sessions for each term
 * @param eager how long to wait for the first connection, if opening waits for it
 * @param foresight what is known of lines
 * @param closing how long closing may wait for the ensemble
 * @param floor of tokens, if the ensemble is to be given one
 * @param threads of this client
 */
record ZooKeeperSettings(
        String url,
        String servers,
        Source source,
        ACLProvider acl,
        String base,
        Optional<Duration> onlyTerm,
        Duration ttl,
        int sessions,
        Optional<Duration> eager,
        FirstInLine.Maker foresight,
        Duration closing,
        Optional<TokenFloor> floor,
        ThreadFactory threads) {

    /** Where sessions come from. */
    interface Source {
        Sessions sessions(
                ZooKeeperSettings settings, Session.Terms terms, Session.Listener listener, RequestNodes places);
    }

    /** Picks a session for what is about no lock in particular. */
    LockKey anyKey() {
        return LockKey.lock(LockName.of("any"));
    }
}
