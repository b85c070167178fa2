// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.Capacity;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code N/M}: N of the M permits that a semaphore has; or {@code N/MxR}, if each of R resources has M.
 *
 * @param count how many are wanted, at least 1 and at most as many as there are
 * @param limit how many there are for one resource, at least 1
 * @param resources how many resources there are, at least 1
 */
record Permits(int count, int limit, int resources) {

    static Permits parse(String text) {
        int slash = text.indexOf('/');
        int times = text.indexOf('x', slash + 1);
        int end = times < 0 ? text.length() : times;
        try {
            int count = Integer.parseInt(text.substring(0, Math.max(slash, 0)));
            int limit = Integer.parseInt(text.substring(slash + 1, end));
            int resources = times < 0 ? 1 : Integer.parseInt(text.substring(times + 1));
            if (count >= 1 && limit >= 1 && resources >= 1 && count <= (long) limit * resources) {
                return new Permits(count, limit, resources);
            }
        } catch (NumberFormatException e) {
            // Told below, with what it should be.
        }
        throw new IllegalArgumentException(
                "\"" + text + "\" is not N/M with 1 <= N <= M, as in 1/4, or N/MxR, as in 1/4x3");
    }

    Capacity capacity() {
        return Capacity.perResource(limit, () -> resources);
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
