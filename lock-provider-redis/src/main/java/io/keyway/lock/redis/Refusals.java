// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.NotExecutedException;
import java.util.List;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The error replies by which a server says that it did nothing. A script that fails by one of them has failed at its first
 * write: with memory short a script that has written is let finish, and a replica takes no write at all.
 */
final class Refusals {

    private static final List<String> KNOWN = List.of(
            "OOM ",
            "READONLY ",
            "LOADING ",
            "MASTERDOWN ",
            "MISCONF ",
            "NOREPLICAS ",
            "CLUSTERDOWN ",
            "TRYAGAIN ",
            "CROSSSLOT ",
            "NOAUTH ",
            "WRONGPASS ",
            "NOPERM ",
            "BUSY ",
            "NOSCRIPT ");

    /** What to do where a server of a cluster was taken for a single one. */
    static final String CLUSTER = "the server belongs to a cluster; write lock:redis:cluster:// to reach all of it";

    private Refusals() {}

    /** Returns the exception that says so if that reply does, else the same. */
    static Exception translated(JedisDataException reply) {
        String text = String.valueOf(reply.getMessage());
        for (String word : KNOWN) {
            // Servers before 7 wrap what a script's command said: "ERR Error running script ...: -OOM command ..."
            if (text.startsWith(word) || text.contains(": -" + word)) {
                return new NotExecutedException(word.equals("CROSSSLOT ") ? CLUSTER + " (" + text + ")" : text, reply);
            }
        }
        return reply;
    }
}
