// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

import java.util.Arrays;

/**
 * The canonical encoding of a state: equal states give equal words. Times are written as differences to now, so that a world that has only grown older is the same world.
 */
public final class Canon {
    private final long now;
    private long[] words = new long[64];
    private int size;

    public Canon(long now) {
        this.now = now;
    }

    public Canon put(long word) {
        if (size == words.length) {
            words = Arrays.copyOf(words, size * 2);
        }
        words[size++] = word;
        return this;
    }

    public Canon put(boolean flag) {
        return put(flag ? 1 : 0);
    }

    /** A time of this cell's clock; {@link Turn#NEVER} stays itself. */
    public Canon time(long at) {
        return put(at == Turn.NEVER ? at : at - now);
    }

    public Canon put(String text) {
        put(text.length());
        for (int i = 0; i < text.length(); i++) {
            put(text.charAt(i));
        }
        return this;
    }

    public Canon put(Key key) {
        return put(key.algorithm()).put(key.id());
    }

    public Canon put(Peer peer) {
        return put(peer.session());
    }

    /** Any immutable value whose text tells all of it, such as a record of records. */
    public Canon value(Object value) {
        return put(value.toString());
    }

    /** A copy of the words. */
    public long[] words() {
        return Arrays.copyOf(words, size);
    }

    public long fingerprint() {
        long hash = 0x9E3779B97F4A7C15L;
        for (int i = 0; i < size; i++) {
            hash = mix(hash ^ words[i]);
        }
        return hash;
    }

    /** A bijective mixer of 64 bits (the finalizer of SplitMix64). */
    public static long mix(long value) {
        long z = value + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
