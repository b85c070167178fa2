// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;
import java.util.Optional;
import org.apache.curator.framework.CuratorFramework;

/** The sessions of a client. One that is over is replaced, and nothing of it is ever taken over. */
interface Sessions {

    /** To be called once, first: what takes time runs on threads of the kit. */
    void runIn(LockBackend.Signals signals);

    /**
     * The session for that key, connected.
     *
     * @param early as {@link Session#awaitConnected}
     */
    Session connected(LockKey key, Duration ttl, Deadline deadline, boolean early)
            throws NotExecutedException, InterruptedException;

    /** A session that is connected, if one is. */
    Optional<Session> open();

    /** Any session, connected, for calls that create nothing that lasts. */
    default Session any(LockKey key, Duration ttl, Deadline deadline)
            throws NotExecutedException, InterruptedException {
        Optional<Session> open = open();
        return open.isPresent() ? open.get() : connected(key, ttl, deadline, false);
    }

    /** The framework that makes a session, if there is one. */
    Optional<CuratorFramework> framework();

    /** Ends what this client has begun; what the ensemble does not answer by the deadline ends later. */
    void close(Deadline deadline);
}
