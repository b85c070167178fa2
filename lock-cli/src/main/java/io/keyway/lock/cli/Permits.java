// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code N/M}: N of the M permits that a semaphore has.
 *
 * @param count how many are wanted, at least 1
 * @param of how many there are, at least {@code count}
 */
record Permits(int count, int of) {

    static Permits parse(String text) {
        int slash = text.indexOf('/');
        try {
            int count = Integer.parseInt(text.substring(0, Math.max(slash, 0)));
            int of = Integer.parseInt(text.substring(slash + 1));
            if (count >= 1 && of >= count) {
                return new Permits(count, of);
            }
        } catch (NumberFormatException e) {
            // Told below, with what it should be.
        }
        throw new IllegalArgumentException("\"" + text + "\" is not N/M with 1 <= N <= M, as in 1/4");
    }

    /** For picocli. */
    static final class Converter implements ITypeConverter<Permits> {
        @Override
        public Permits convert(String text) {
            try {
                return parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(String.valueOf(e.getMessage()));
            }
        }
    }
}
