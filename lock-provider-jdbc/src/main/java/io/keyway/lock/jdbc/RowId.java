// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The primary key of a lock's row: 64 hex digits, the SHA-256 of its flat key. Names may be longer than an index takes,
 * and a collation may find two of them equal that are not; digits suit every one.
 */
final class RowId {

    private static final HexFormat HEX = HexFormat.of();

    private RowId() {}

    static String of(LockKey key) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            return HEX.formatHex(digest.digest(key.flat().getBytes(StandardCharsets.US_ASCII)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each Java platform has SHA-256", e);
        }
    }
}
