// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.LockBackend;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * Notices that a server was started anew since it was asked last: it may have lost what it kept, which would else come
 * to light by the next renewal. By one thread at a time.
 */
final class RestartWatch {

    private static final String RUN = "run_id:";
    private static final String UNTOLD = "";

    private @Nullable String before;

    /** Asks on a new connection; one that may not be told must take each new connection for that of another run. */
    void check(String server, Connection connection, LockBackend.Signals signals) {
        String last = before;
        String run = run(connection);
        before = run;
        if (last == null || (last.equals(run) && !run.equals(UNTOLD))) {
            return;
        }
        signals.doubt(
                run.equals(UNTOLD)
                        ? "the connection to " + server + " broke, and it may have been restarted since"
                        : server + " was restarted, and may have lost what it kept");
    }

    private static String run(Connection connection) {
        try {
            connection.sendCommand(Command.INFO, "server");
            return connection
                    .getBulkReply()
                    .lines()
                    .filter(line -> line.startsWith(RUN))
                    .findFirst()
                    .orElse(UNTOLD);
        } catch (JedisDataException e) {
            return UNTOLD;
        }
    }
}
