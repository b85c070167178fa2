// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Incarnation;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The names of keys and channels. All keys of one lock have its name as their hash tag, so that they live in one slot:
 * {@code prefix{name}:l}, and for a semaphore {@code prefix{name}:s}. Braces and percent signs of the name are written as
 * {@code %} and two hex digits; the prefix has no braces.
 */
final class RedisKeys {

    private static final int REMEMBERED_BITS = 8;

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Names(LockKey key, byte[] holders, byte[] waiters, byte[] queue, String tombstones, byte[] floor) {}

    private final RedisLink link;
    private final String prefix;

    /** Of keys used lately. */
    private final AtomicReferenceArray<@Nullable Names> remembered = new AtomicReferenceArray<>(1 << REMEMBERED_BITS);

    RedisKeys(RedisLink link, String prefix) {
        this.link = link;
        this.prefix = prefix;
    }

    /** Holders. */
    byte[][] one(LockKey key) {
        return new byte[][] {of(key).holders};
    }

    /** Holders, waiters, queue, floor of tokens. */
    byte[][] line(LockKey key) {
        Names names = of(key);
        return new byte[][] {names.holders, names.waiters, names.queue, names.floor};
    }

    /** Tombstone of that request. */
    byte[][] tombstone(LockKey key, String id) {
        return new byte[][] {bytes(of(key).tombstones + id)};
    }

    /** Holders, waiters, queue, tombstone of that request, floor of tokens. */
    byte[][] all(LockKey key, String id) {
        Names names = of(key);
        return new byte[][] {names.holders, names.waiters, names.queue, bytes(names.tombstones + id), names.floor};
    }

    private Names of(LockKey key) {
        int place = (key.hashCode() * 0x9E3779B9) >>> (32 - REMEMBERED_BITS);
        Names names = remembered.get(place);
        if (names == null || !names.key.equals(key)) {
            names = names(key);
            remembered.set(place, names);
        }
        return names;
    }

    private Names names(LockKey key) {
        String tag = escape(key.name().value());
        String holders = prefix + "{" + tag + (key.kind() == LockKey.Kind.LOCK ? "}:l" : "}:s");
        return new Names(
                key,
                bytes(holders),
                bytes(holders + "w"),
                bytes(holders + "q"),
                holders + "x:",
                bytes(link.floorKey(prefix, tag)));
    }

    /** The channel of a client. */
    String channel(Incarnation client) {
        return prefix + "c:" + client;
    }

    /** The sharded channel of a client in the slot of that name. */
    String channel(LockName name, Incarnation client) {
        return prefix + "{" + escape(name.value()) + "}:c:" + client;
    }

    /** Which SCAN finds all keys of holders and of waiters whose names begin so. */
    String pattern(String namePrefix) {
        return glob(prefix + "{" + escape(namePrefix)) + "*}:[ls]*";
    }

    /** The lock or semaphore to which a key belongs; empty if it is none of ours. */
    Optional<LockKey> parse(String key) {
        int end = key.indexOf("}:", prefix.length());
        if (!key.startsWith(prefix + "{") || end < 0 || key.length() < end + 3) {
            return Optional.empty();
        }
        char kind = key.charAt(end + 2);
        if (kind != 'l' && kind != 's') {
            return Optional.empty();
        }
        try {
            LockName name = LockName.of(unescape(key.substring(prefix.length() + 1, end)));
            return Optional.of(kind == 'l' ? LockKey.lock(name) : LockKey.semaphore(name));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    static String escape(String name) {
        if (name.indexOf('%') < 0 && name.indexOf('{') < 0 && name.indexOf('}') < 0) {
            return name;
        }
        return name.replace("%", "%25").replace("{", "%7B").replace("}", "%7D");
    }

    static String unescape(String text) {
        return text.indexOf('%') < 0
                ? text
                : text.replace("%7B", "{").replace("%7D", "}").replace("%25", "%");
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String glob(String text) {
        return text.replaceAll("([\\\\*?\\[\\]^-])", "\\\\$1");
    }
}
