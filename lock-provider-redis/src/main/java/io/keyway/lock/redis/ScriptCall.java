// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.nio.charset.StandardCharsets;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/**
 * One run of a script.
 *
 * @param script which
 * @param keys all that it touches, of one hash tag
 * @param arguments the rest
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ScriptCall(RedisScript script, byte[][] keys, byte[][] arguments) {

    private static final byte[] ZERO = {'0'};

    /** Runs it, and teaches it to a server that does not know it. */
    Object on(Connection connection) {
        try {
            send(connection, false);
            return connection.getOne();
        } catch (JedisNoScriptException e) {
            // Surely not executed; this way the server knows it from now on.
            send(connection, true);
            return connection.getOne();
        }
    }

    /** Sends it by its hash or as a whole, without waiting for the reply. */
    void send(Connection connection, boolean whole) {
        byte[][] words = new byte[2 + keys.length + arguments.length][];
        words[0] = whole ? script.text() : script.sha();
        words[1] = keys.length == 0 ? ZERO : Integer.toString(keys.length).getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(keys, 0, words, 2, keys.length);
        System.arraycopy(arguments, 0, words, 2 + keys.length, arguments.length);
        connection.sendCommand(whole ? Command.EVAL : Command.EVALSHA, words);
    }

    /** Returns the reply to what was sent, or the exception that says why there is none of a script. */
    static Object reply(Connection connection) {
        try {
            return connection.getOne();
        } catch (JedisNoScriptException e) {
            return e;
        } catch (JedisDataException e) {
            return ServerErrors.translated(e);
        }
    }
}
