// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;

/** What an {@link Authenticator} made of a transcript. Compared in constant time. */
public final class Mac {
    /** No authenticator makes longer ones. */
    public static final int MAX_BYTES = 64;

    private final byte[] bytes;

    public Mac(byte[] bytes) {
        if (bytes.length > MAX_BYTES) {
            throw new IllegalArgumentException("a mac of " + bytes.length + " bytes; at most " + MAX_BYTES);
        }
        this.bytes = bytes.clone();
    }

    /** A copy. */
    public byte[] bytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Mac mac && MessageDigest.isEqual(bytes, mac.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
