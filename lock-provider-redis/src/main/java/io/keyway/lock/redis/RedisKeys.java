// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import static io.keyway.lock.redis.ScriptCodec.bytes;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Incarnation;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The names of keys and channels. All keys of one lock have its name as their hash tag, so that they live in one slot:
 * {@code prefix{name}:l}, and for a semaphore {@code prefix{name}:s}. Braces and percent signs of the name are written
 * as {@code %} and two hex digits; the prefix has no braces.
 */
final class RedisKeys {

    private static final int REMEMBERED_BITS = 8;
    private static final int HOLDERS = 0;
    private static final int WAITERS = 1;
    private static final int QUEUE = 2;
    private static final int FLOOR = 3;

    private final RedisLink link;
    private final String prefix;

    /** The keys of names used lately: holders, waiters, queue and floor of tokens. */
    private final AtomicReferenceArray<Map.@Nullable Entry<LockKey, byte[][]>> remembered =
            new AtomicReferenceArray<>(1 << REMEMBERED_BITS);

    RedisKeys(RedisLink link, String prefix) {
        this.link = link;
        this.prefix = prefix;
    }

    /** Holders. */
    byte[][] one(LockKey key) {
        return new byte[][] {of(key)[HOLDERS]};
    }

    /** Holders, waiters, queue, floor of tokens; not to be changed. */
    byte[][] queue(LockKey key) {
        return of(key);
    }

    /** Tombstone of that request. */
    byte[][] tombstone(LockKey key, String id) {
        return new byte[][] {tombstone(of(key)[HOLDERS], id)};
    }

    /** Holders, waiters, queue, tombstone of that request, floor of tokens. */
    byte[][] all(LockKey key, String id) {
        byte[][] known = of(key);
        byte[] holders = known[HOLDERS];
        return new byte[][] {holders, known[WAITERS], known[QUEUE], tombstone(holders, id), known[FLOOR]};
    }

    private static byte[] tombstone(byte[] holders, String id) {
        byte[] rest = bytes("x:" + id);
        byte[] key = Arrays.copyOf(holders, holders.length + rest.length);
        System.arraycopy(rest, 0, key, holders.length, rest.length);
        return key;
    }

    private byte[][] of(LockKey key) {
        int slot = (key.hashCode() * 0x9E3779B9) >>> (32 - REMEMBERED_BITS);
        Map.Entry<LockKey, byte[][]> known = remembered.get(slot);
        if (known == null || !known.getKey().equals(key)) {
            known = Map.entry(key, keys(key));
            remembered.set(slot, known);
        }
        return known.getValue();
    }

    private byte[][] keys(LockKey key) {
        String tag = escape(key.name().value());
        String holders = prefix + "{" + tag + (key.kind() == LockKey.Kind.LOCK ? "}:l" : "}:s");
        return new byte[][] {
            bytes(holders), bytes(holders + "w"), bytes(holders + "q"), bytes(link.floorKey(prefix, tag))
        };
    }

    /** The channel of a client. */
    String channel(Incarnation client) {
        return prefix + "c:" + client;
    }

    /** The sharded channel of a client in the slot of that name. */
    String channel(LockName name, Incarnation client) {
        return prefix + "{" + escape(name.value()) + "}:c:" + client;
    }

    /** The pattern by which SCAN finds all keys of holders and of waiters whose names begin so. */
    String pattern(String namePrefix) {
        return glob(prefix + "{" + escape(namePrefix)) + "*}:[ls]*";
    }

    /** The lock or semaphore to which a key belongs; empty if the key is none of ours. */
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

    private static String glob(String text) {
        return text.replaceAll("([\\\\*?\\[\\]^-])", "\\\\$1");
    }
}
