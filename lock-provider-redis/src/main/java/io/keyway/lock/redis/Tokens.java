// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol;

/**
 * Tokens as scripts have them: a number of Lua has 53 bits, in which it counts, and what is above those, by which
 * tokens are lifted over the ones of another store, is the same for all and mostly 0. As text {@code counted+lift}.
 */
final class Tokens {

    private static final int BITS = 53;
    private static final long COUNTED = (1L << BITS) - 1;

    /** The highest lift that this client has seen, so that a server that has lost its data hears of it again. */
    private final AtomicLong lift = new AtomicLong();

    /** Reads what a script tells, be it in an answer or a message, and learns by what it is lifted. */
    long told(String text) {
        long token = parse(text);
        learn(token >>> BITS);
        return token;
    }

    private static long parse(String text) {
        int plus = text.indexOf('+');
        return plus < 0
                ? Long.parseLong(text)
                : of(Long.parseLong(text.substring(0, plus)), Long.parseLong(text.substring(plus + 1)));
    }

    static long of(long counted, long lift) {
        return lift << BITS | counted;
    }

    /** Returns the token that a script has granted, a number or a text, and learns by what it is lifted. */
    long of(Object reply) {
        return reply instanceof Long token ? token : told(Replies.text(reply));
    }

    static byte[] counted(long token) {
        return Protocol.toByteArray(token & COUNTED);
    }

    static byte[] lift(long token) {
        return Protocol.toByteArray(token >>> BITS);
    }

    /** Returns by what tokens have to be lifted so that each is greater than that floor, wherever the count stands. */
    static long liftOver(long floor) {
        return (floor >>> BITS) + 1;
    }

    void learn(long seen) {
        if (seen > lift.get()) {
            lift.accumulateAndGet(seen, Math::max);
        }
    }

    /** Returns what to tell the server of the lift; null for nothing. */
    byte @Nullable [] known() {
        long known = lift.get();
        return known == 0 ? null : Protocol.toByteArray(known);
    }
}
