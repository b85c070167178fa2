// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockName;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The number by which PostgreSQL knows an advisory lock: the first eight bytes of the SHA-256 of the qualified name of
 * the sequence, a line feed, which no name has, and the name of the lock. So sequences of two schemas are two sets of
 * locks. Numbers are those of one database: PostgreSQL keeps databases apart.
 *
 * @param number as {@code pg_advisory_lock} takes it
 */
record AdvisoryKey(long number) {

    /** How numbers are made; a test has one that makes few. */
    @FunctionalInterface
    interface Numbers {
        AdvisoryKey of(LockName name);
    }

    /** Those of that sequence, with its schema. */
    static Numbers under(String sequence) {
        return name -> of(sequence, name);
    }

    static AdvisoryKey of(String sequence, LockName name) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256")
                    .digest((sequence + "\n" + name.value()).getBytes(StandardCharsets.UTF_8));
            return new AdvisoryKey(ByteBuffer.wrap(hash).getLong());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** The upper half; with the lower one it names the lock of those that want to be told of releases. */
    int high() {
        return (int) (number >>> 32);
    }

    int low() {
        return (int) number;
    }

    String text() {
        return String.format("%016x", number);
    }

    /** The key of that text. */
    static AdvisoryKey parse(String text) {
        return new AdvisoryKey(Long.parseUnsignedLong(text, 16));
    }
}
