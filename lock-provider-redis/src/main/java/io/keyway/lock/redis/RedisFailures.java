// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.NotExecutedException;
import java.util.regex.Pattern;
import redis.clients.jedis.exceptions.JedisDataException;

/** What error replies of servers mean. */
final class RedisFailures {

    /** With these a server refuses a script before or at its first write, so nothing has happened. */
    private static final Pattern REFUSED = Pattern.compile(
            "\\b(READONLY|OOM|LOADING|MASTERDOWN|CLUSTERDOWN|MISCONF|NOREPLICAS|NOAUTH|NOPERM|WRONGPASS|BUSY|TRYAGAIN|NOSCRIPT|MOVED|ASK|CROSSSLOT)\\b|max number of clients");

    private RedisFailures() {}

    /** What to throw for an error reply to a script: by its kind the outcome is known, or not. */
    static Exception of(JedisDataException reply) {
        String message = String.valueOf(reply.getMessage());
        return REFUSED.matcher(message).find() ? new NotExecutedException(message, reply) : reply;
    }
}
