// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import io.keyway.lock.LockMode;
import java.util.stream.Stream;

/**
 * What one request has at the store: a line of the table. Its {@code token} is 0 while it waits and -1 when it was
 * withdrawn; {@code ttl} and {@code end} are nanoseconds of the machine's clock.
 */
record Place(String key, String request, LockMode mode, long permits, long token, long ttl, long end) {

    /** The same, with that token and its whole ttl before it. */
    Place with(long newToken, long now) {
        return new Place(key, request, mode, permits, newToken, ttl, now + ttl);
    }

    /** Also if it ends later than it can: it was written before the machine, and its clock, started anew. */
    boolean expired(long now) {
        return end - now <= 0 || end - now > ttl;
    }

    String line() {
        return String.join(" ", key, request, mode.name()) + " " + permits + " " + token + " " + ttl + " " + end;
    }

    static Place parse(String line) {
        String[] at = line.split(" ");
        long[] n = Stream.of(at).skip(3).mapToLong(Long::parseLong).toArray();
        return new Place(at[0], at[1], LockMode.valueOf(at[2]), n[0], n[1], n[2], n[3]);
    }
}
