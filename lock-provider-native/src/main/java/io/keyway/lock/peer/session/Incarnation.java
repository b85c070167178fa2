// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

/** One life of a process, as 128 random bits: two starts never share one. */
public record Incarnation(long high, long low) {
    // Written out, since the first hash of a record that has none costs a starting client some 20 ms.

    @Override
    public boolean equals(Object other) {
        return other instanceof Incarnation life && high == life.high && low == life.low;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(high ^ low);
    }

    @Override
    public String toString() {
        return hex(high) + hex(low);
    }

    private static String hex(long bits) {
        String digits = Long.toHexString(bits);
        return "0".repeat(16 - digits.length()) + digits;
    }
}
