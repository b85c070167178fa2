// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.NotExecutedException;
import java.util.List;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The error replies by which a server says that it did nothing. A script that fails by one of them has failed at its
 * first write: with memory short a script that has written is let finish, and a replica takes no write at all. Not so
 * where a right is lacking, which may show at any step of a script.
 */
final class ServerErrors {

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

    private ServerErrors() {}

    /** Whether a script failed since its user may not do one of the things that it does; what it did before is done. */
    static boolean isForbiddenInScript(Exception failure) {
        String text = String.valueOf(failure.getMessage());
        return text.contains("ACL failure in script")
                || text.contains("The user executing the script can't")
                || (text.contains("NOPERM ") && text.contains("@user_script"));
    }

    /** Returns the exception that says so if that reply does, else the same. */
    static Exception translated(JedisDataException reply) {
        String text = String.valueOf(reply.getMessage());
        if (isForbiddenInScript(reply)) {
            return reply;
        }
        for (String word : KNOWN) {
            // Servers before 7 wrap what a script's command said: "ERR Error running script ...: -OOM command ..."
            if (text.startsWith(word) || text.contains(": -" + word)) {
                return new NotExecutedException(word.equals("CROSSSLOT ") ? CLUSTER + " (" + text + ")" : text, reply);
            }
        }
        return reply;
    }
}
