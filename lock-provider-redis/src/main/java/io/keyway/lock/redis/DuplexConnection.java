// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.Protocol.Command;

/** A connection on which one thread can read, by {@link #getUnflushedObject}, while another writes. */
final class DuplexConnection extends Connection {

    DuplexConnection(JedisSocketFactory sockets, JedisClientConfig config) {
        super(sockets, config);
    }

    /** Sends a command now, not with the next reading. By one thread at a time. */
    void write(Command command, String argument) {
        sendCommand(command, argument);
        flush();
    }
}
