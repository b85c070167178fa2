// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol.Command;

/**
 * A connection on which one thread can read, by {@link #getUnflushedObject}, while another writes, and which any thread
 * can close at once.
 */
final class DuplexConnection extends Connection {

    /** Since when nobody uses it ({@link System#nanoTime}). */
    long idleSince;

    private final RedisSockets sockets;

    DuplexConnection(RedisSockets sockets, JedisClientConfig config) {
        super(sockets, config);
        this.sockets = sockets;
    }

    /** Sends a command now, not with the next reading. By one thread at a time. */
    void write(Command command, String argument) {
        sendCommand(command, argument);
        flush();
    }

    /** Closes it without sending what is not sent yet. */
    void discard() {
        setBroken();
        sockets.close();
    }
}
