// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/** A script of ours: its text, and the hash by which servers know it. */
final class RedisScript {

    private static final byte[] ZERO = {'0'};

    private final String name;
    private final byte[] text;
    private final byte[] sha;
    private final boolean urgent;

    private RedisScript(String name, byte[] text, boolean urgent) {
        this.name = name;
        this.text = text;
        this.sha = sha(text);
        this.urgent = urgent;
    }

    /** Reads resources beside this class, which make one script in that order; the last one names it. */
    static RedisScript of(String... parts) {
        StringBuilder text = new StringBuilder();
        for (String part : parts) {
            text.append(resource(part)).append('\n');
        }
        return new RedisScript(parts[parts.length - 1], text.toString().getBytes(StandardCharsets.UTF_8), false);
    }

    /** Returns the same, for calls that find a connection where all others are in use by calls that are not urgent. */
    RedisScript asUrgent() {
        return new RedisScript(name, text, true);
    }

    byte[] text() {
        return text;
    }

    @Override
    public String toString() {
        return name;
    }

    private static String resource(String name) {
        try (InputStream in = RedisScript.class.getResourceAsStream(name + ".lua")) {
            if (in == null) {
                throw new IllegalStateException("the script " + name + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] sha(byte[] text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1").digest(text);
            return HexFormat.of().formatHex(digest).getBytes(StandardCharsets.US_ASCII);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-1", e);
        }
    }

    /**
     * One run of a script.
     *
     * @param script which
     * @param keys all that it touches, of one hash tag
     * @param arguments the rest
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Call(RedisScript script, byte[][] keys, byte[][] arguments) {

        boolean isUrgent() {
            return script.urgent;
        }

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

        /** As {@link #on}, at a server that is about to take over the slot of the keys. */
        Object onAsking(Connection connection) {
            connection.sendCommand(Command.ASKING);
            connection.getStatusCodeReply();
            send(connection, true);
            return connection.getOne();
        }

        /** Runs several in one round trip; for each the reply, or the exception that says why there is none. */
        static List<Object> all(List<Call> calls, Connection connection) {
            for (Call call : calls) {
                call.send(connection, false);
            }
            List<Object> replies = new ArrayList<>(calls.size());
            for (int i = 0; i < calls.size(); i++) {
                replies.add(reply(connection));
            }
            for (int i = 0; i < calls.size(); i++) {
                if (replies.get(i) instanceof JedisNoScriptException) {
                    calls.get(i).send(connection, true);
                    replies.set(i, reply(connection));
                }
            }
            return replies;
        }

        /** Sends it by its hash or as a whole, without waiting for the reply. */
        private void send(Connection connection, boolean whole) {
            byte[][] words = new byte[2 + keys.length + arguments.length][];
            words[0] = whole ? script.text : script.sha;
            words[1] = keys.length == 0 ? ZERO : Integer.toString(keys.length).getBytes(StandardCharsets.US_ASCII);
            System.arraycopy(keys, 0, words, 2, keys.length);
            System.arraycopy(arguments, 0, words, 2 + keys.length, arguments.length);
            connection.sendCommand(whole ? Command.EVAL : Command.EVALSHA, words);
        }

        private static Object reply(Connection connection) {
            try {
                return connection.getOne();
            } catch (JedisNoScriptException e) {
                return e;
            } catch (JedisDataException e) {
                return ServerErrors.translated(e);
            }
        }
    }
}
