// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol;

/**
 * How requests, tokens and owners are written for scripts, and read from their replies and messages.
 *
 * <p>A token has two parts, since a number of Lua has 53 bits: the number that scripts count, and above it the lift, by
 * which tokens are lifted over the ones of another store; it is the same for all and mostly 0. As text
 * {@code number+lift}. The scripts make tokens, in {@code token.lua}; this client remembers the highest lift that it
 * has seen, and tells it, so that a server that has lost its data hears of it again.
 */
final class ScriptCodec {

    private static final int BITS = 53;
    private static final long NUMBER = (1L << BITS) - 1;
    private static final byte[] NONE = {'0'};

    /** What was written last of mode, permits and owner. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Written(LockMode mode, int permits, Owner owner, byte[] bytes) {}

    /** What was read of an owner. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Read(byte[] bytes, Owner owner) {}

    private static final int OWNERS = 32;

    private volatile @Nullable Written lastWritten;
    private final AtomicReferenceArray<@Nullable Read> lastRead = new AtomicReferenceArray<>(OWNERS);

    /** The highest lift that this client has seen. */
    private final AtomicLong lift = new AtomicLong();

    // Arguments.

    /**
     * The arguments, and after them those that are left out where they say nothing: how long to keep the lock at
     * least, and the lift.
     */
    byte[][] withOptional(Request request, byte[]... arguments) {
        long known = lift.get();
        if (known == 0 && request.holdAtLeast().isZero()) {
            return arguments;
        }
        byte[][] all = Arrays.copyOf(arguments, arguments.length + (known == 0 ? 1 : 2));
        all[arguments.length] = request.holdAtLeast().isZero() ? NONE : millis(request.holdAtLeast());
        if (known != 0) {
            all[arguments.length + 1] = Protocol.toByteArray(known);
        }
        return all;
    }

    /**
     * Mode, permits and owner, as scripts have them; mostly the same as last time. A soft writer has a mode of its own,
     * and its time without readers in microseconds for permits.
     */
    byte[] modeAndOwner(Request request) {
        if (request.isSoft()) {
            // A server's microsecond and what is left of one of ours.
            long micros = (request.quiet().orElseThrow().toNanos() + 999) / 1000;
            return bytes("Y" + micros + ";" + request.owner().text());
        }
        Written last = lastWritten;
        if (last == null
                || last.mode != request.mode()
                || last.permits != request.permits()
                || !last.owner.equals(request.owner())) {
            String text = letter(request.mode()) + request.permits() + ";"
                    + request.owner().text();
            last = new Written(request.mode(), request.permits(), request.owner(), bytes(text));
            lastWritten = last;
        }
        return last.bytes;
    }

    private static String letter(LockMode mode) {
        return switch (mode) {
            case EXCLUSIVE -> "X";
            case SHARED -> "S";
            case PERMITS -> "P";
            default -> throw new IllegalArgumentException(mode + " is of trees, which this store does not offer");
        };
    }

    /** Whole milliseconds and one more, since the server's clock of expiries has whole milliseconds. */
    static byte[] millis(Duration ttl) {
        return Protocol.toByteArray((ttl.toNanos() + 999_999) / 1_000_000 + 1);
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    // Tokens.

    /** Returns the token that a script has granted, a number or a text, and learns its lift. */
    long token(Object reply) {
        return reply instanceof Long token ? token : token(text(reply));
    }

    /** Reads the token that a reply or a message has as text, and learns its lift. */
    long token(String text) {
        int plus = text.indexOf('+');
        long token = plus < 0
                ? Long.parseLong(text)
                : token(Long.parseLong(text.substring(0, plus)), Long.parseLong(text.substring(plus + 1)));
        learnLift(token >>> BITS);
        return token;
    }

    private static long token(long number, long lift) {
        return lift << BITS | number;
    }

    /** The number of a token, as scripts count it. */
    static byte[] tokenNumber(long token) {
        return Protocol.toByteArray(token & NUMBER);
    }

    /** The lift of a token. */
    static byte[] tokenLift(long token) {
        return Protocol.toByteArray(token >>> BITS);
    }

    /** Returns the lift by which each token is greater than that floor, whatever its number is. */
    static long liftOver(long floor) {
        return (floor >>> BITS) + 1;
    }

    void learnLift(long seen) {
        if (seen > lift.get()) {
            lift.accumulateAndGet(seen, Math::max);
        }
    }

    static Grant grant(Request request, long token) {
        return new Grant(request.id(), request.key(), token, request.ttl(), "");
    }

    // Replies.

    static List<?> list(Object reply) {
        return (List<?>) reply;
    }

    static long number(Object reply) {
        return (Long) reply;
    }

    static String text(Object reply) {
        return new String((byte[]) reply, StandardCharsets.UTF_8);
    }

    /** The owners that follow the first two parts of a reply; mostly the same few as last time. */
    List<Owner> owners(List<?> reply) {
        List<Owner> owners = new ArrayList<>(reply.size() - 2);
        for (int i = 2; i < reply.size(); i++) {
            byte[] text = (byte[]) reply.get(i);
            int slot = Arrays.hashCode(text) & (OWNERS - 1);
            Read read = lastRead.get(slot);
            if (read == null || !Arrays.equals(read.bytes, text)) {
                read = new Read(text, Owner.parse(text(text)));
                lastRead.set(slot, read);
            }
            owners.add(read.owner);
        }
        return owners;
    }

    static List<LockStatus.Holder> holders(Object reply) {
        List<LockStatus.Holder> holders = new ArrayList<>();
        for (Object each : list(reply)) {
            List<?> parts = list(each);
            Owner owner = Owner.parse(text(parts.get(4)));
            long kept = number(parts.get(5));
            holders.add(new LockStatus.Holder(
                    owner.client(),
                    mode(parts),
                    (int) number(parts.get(1)),
                    OptionalLong.of(token(number(parts.get(2)), number(parts.get(6)))),
                    since(parts),
                    owner.metadata(),
                    kept == 0 ? Optional.empty() : Optional.of(Duration.ofNanos(kept * 1000))));
        }
        return holders;
    }

    static List<LockStatus.Waiter> waiters(Object reply) {
        List<LockStatus.Waiter> waiters = new ArrayList<>();
        for (Object each : list(reply)) {
            List<?> parts = list(each);
            Owner owner = Owner.parse(text(parts.get(4)));
            waiters.add(new LockStatus.Waiter(
                    owner.client(),
                    mode(parts),
                    (int) number(parts.get(1)),
                    OptionalLong.empty(),
                    since(parts),
                    owner.metadata()));
        }
        return waiters;
    }

    private static LockMode mode(List<?> parts) {
        return switch (text(parts.get(0))) {
            case "X" -> LockMode.EXCLUSIVE;
            case "S" -> LockMode.SHARED;
            default -> LockMode.PERMITS;
        };
    }

    private static Duration since(List<?> parts) {
        return Duration.ofNanos(number(parts.get(3)) * 1000);
    }
}
