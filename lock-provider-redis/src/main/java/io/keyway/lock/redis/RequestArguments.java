// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol;

/** What scripts are told of a request. */
final class RequestArguments {

    private static final byte[] NONE = {'0'};

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record What(LockMode mode, int permits, Owner owner, byte[] bytes) {}

    private final Tokens tokens;
    private volatile @Nullable What lastAsked;

    RequestArguments(Tokens tokens) {
        this.tokens = tokens;
    }

    /**
     * The words, and after them those that are left out where they say nothing: how long to hold at least, and the
     * lift.
     */
    byte[][] withOptional(Request request, byte[]... arguments) {
        byte[] lift = tokens.known();
        if (lift == null && request.holdAtLeast().isZero()) {
            return arguments;
        }
        byte[][] all = Arrays.copyOf(arguments, arguments.length + (lift == null ? 1 : 2));
        all[arguments.length] = request.holdAtLeast().isZero() ? NONE : millis(request.holdAtLeast());
        if (lift != null) {
            all[arguments.length + 1] = lift;
        }
        return all;
    }

    /** Mode, permits and owner, as scripts have them; mostly the same as last time. */
    byte[] what(Request request) {
        What last = lastAsked;
        if (last == null
                || last.mode != request.mode()
                || last.permits != request.permits()
                || !last.owner.equals(request.owner())) {
            String text = letter(request.mode()) + request.permits() + ";"
                    + request.owner().text();
            last = new What(request.mode(), request.permits(), request.owner(), RedisKeys.bytes(text));
            lastAsked = last;
        }
        return last.bytes;
    }

    private static String letter(LockMode mode) {
        return switch (mode) {
            case EXCLUSIVE -> "X";
            case SHARED -> "S";
            case PERMITS -> "P";
        };
    }

    /** One more, since the server's clock of expiries has whole milliseconds. */
    static byte[] millis(Duration ttl) {
        return Protocol.toByteArray((ttl.toNanos() + 999_999) / 1_000_000 + 1);
    }
}
