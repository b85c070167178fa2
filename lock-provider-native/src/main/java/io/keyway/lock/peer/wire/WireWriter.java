// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import java.nio.BufferOverflowException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/**
 * Writes fields, up to a number of bytes; a field that does not fit throws {@link BufferOverflowException}. On a plain
 * array, since a member or client that has just started interprets each call for each byte.
 */
public final class WireWriter {
    private final byte[] bytes;
    private int position;
    private int limit;

    /** For so many bytes. */
    public WireWriter(int most) {
        bytes = new byte[most];
        limit = most;
    }

    /** A copy of what was written. */
    public byte[] toBytes() {
        return Arrays.copyOf(bytes, position);
    }

    /** What is written to; not a copy. */
    byte[] array() {
        return bytes;
    }

    int position() {
        return position;
    }

    /** Writes from there on, and not beyond the limit. */
    void restart(int from, int to) {
        position = from;
        limit = to;
    }

    /** The place of that many bytes, which are written next. */
    private int next(int count) {
        int start = position;
        if (limit - start < count) {
            throw new BufferOverflowException();
        }
        position = start + count;
        return start;
    }

    public WireWriter u8(int value) {
        if (value < 0 || value > 0xFF) {
            throw new IllegalArgumentException(value + " does not fit into a byte");
        }
        bytes[next(1)] = (byte) value;
        return this;
    }

    public WireWriter flag(boolean value) {
        return u8(value ? 1 : 0);
    }

    public WireWriter u32(int value) {
        put(next(4), value);
        return this;
    }

    public WireWriter u64(long value) {
        int at = next(8);
        put(at, (int) (value >>> 32));
        put(at + 4, (int) value);
        return this;
    }

    /** Four bytes at a place that was written before, or left free. */
    void put(int at, int value) {
        bytes[at] = (byte) (value >>> 24);
        bytes[at + 1] = (byte) (value >>> 16);
        bytes[at + 2] = (byte) (value >>> 8);
        bytes[at + 3] = (byte) value;
    }

    /** Seven bits a byte, lowest first; the value counts as unsigned, so a negative one takes ten bytes. */
    public WireWriter varint(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            bytes[next(1)] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[next(1)] = (byte) rest;
        return this;
    }

    /** A number that is never negative. */
    public WireWriter number(long value) {
        if (value < 0) {
            throw new IllegalArgumentException(value + " is negative");
        }
        return varint(value);
    }

    public WireWriter bytes(byte[] value) {
        number(value.length);
        System.arraycopy(value, 0, bytes, next(value.length), value.length);
        return this;
    }

    /** UTF-8, after its length in bytes. */
    public WireWriter text(String value) {
        return bytes(value.getBytes(StandardCharsets.UTF_8));
    }

    /** Pairs of texts, in the order in which the map gives them. */
    public WireWriter texts(Map<String, String> value) {
        number(value.size());
        for (Map.Entry<String, String> entry : value.entrySet()) {
            text(entry.getKey()).text(entry.getValue());
        }
        return this;
    }
}
