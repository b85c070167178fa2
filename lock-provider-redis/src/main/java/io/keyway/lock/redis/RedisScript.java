// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A script of ours: its text, and the hash by which servers know it. */
final class RedisScript {

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

    /** Reads a resource beside this class, after those of which it uses functions. */
    static RedisScript read(String name, String... preludes) {
        StringBuilder text = new StringBuilder();
        for (String prelude : preludes) {
            text.append(resource(prelude)).append('\n');
        }
        return new RedisScript(name, text.append(resource(name)).toString().getBytes(StandardCharsets.UTF_8), false);
    }

    /** Returns the same, for calls that find a connection where all others are in use by calls that are not urgent. */
    RedisScript asUrgent() {
        return new RedisScript(name, text, true);
    }

    boolean isUrgent() {
        return urgent;
    }

    byte[] text() {
        return text;
    }

    byte[] sha() {
        return sha;
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
}
