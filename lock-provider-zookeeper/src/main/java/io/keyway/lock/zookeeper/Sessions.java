// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockKey;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;
import java.util.Optional;
import org.apache.curator.framework.CuratorFramework;

/** The sessions of a client. One that is over is replaced; never is anything of it taken over. */
interface Sessions {

    /** To be called once, before anything else: what takes time runs on threads of the kit's. */
    void runIn(LockBackend.Signals signals);

    /**
     * The session for that key, connected.
     *
     * @param early as {@link Session#awaitConnected}
     */
    Session connected(LockKey key, Duration ttl, Await limit, boolean early)
            throws NotExecutedException, InterruptedException;

    /** A session that is connected, if one is. */
    Optional<Session> open();

    /** Any session, connected, for calls that create nothing that lasts. */
    default Session any(LockKey key, Duration ttl, Await limit) throws NotExecutedException, InterruptedException {
        Optional<Session> open = open();
        return open.isPresent() ? open.get() : connected(key, ttl, limit, false);
    }

    /** What a session comes from, if there is one. */
    Optional<CuratorFramework> framework();

    /** Ends what this client has begun; what the ensemble does not answer within the limit ends later. */
    void close(Await limit);
}
