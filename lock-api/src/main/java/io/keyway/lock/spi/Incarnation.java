// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.security.SecureRandom;

/**
 * One life of a client: 128 random bits, drawn once when it is opened.
 *
 * @param high the upper 64 bits
 * @param low the lower 64 bits
 */
public record Incarnation(long high, long low) {

    /**
     * Draws a new one.
     *
     * @return 128 random bits
     */
    public static Incarnation draw() {
        SecureRandom random = new SecureRandom();
        return new Incarnation(random.nextLong(), random.nextLong());
    }

    /**
     * Parses the form of {@link #toString()}.
     *
     * @param text 32 lower-case hex digits
     * @return the incarnation of that form
     * @throws IllegalArgumentException if it is not 32 lower-case hex digits
     */
    public static Incarnation of(String text) {
        Incarnation parsed = null;
        if (text.length() == 32) {
            try {
                parsed = new Incarnation(
                        Long.parseUnsignedLong(text.substring(0, 16), 16),
                        Long.parseUnsignedLong(text.substring(16), 16));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("an incarnation has 32 lower-case hex digits", e);
            }
        }
        if (parsed == null || !parsed.toString().equals(text)) {
            throw new IllegalArgumentException("an incarnation has 32 lower-case hex digits");
        }
        return parsed;
    }

    /** Returns 32 lower-case hex digits. */
    @Override
    public String toString() {
        return String.format("%016x%016x", high, low);
    }
}
