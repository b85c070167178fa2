// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Writes fields into a buffer of fixed size; a field that does not fit throws {@link java.nio.BufferOverflowException}.
 */
public final class WireWriter {
    private final ByteBuffer out;

    public WireWriter(ByteBuffer out) {
        this.out = out;
    }

    public WireWriter u8(int value) {
        if (value < 0 || value > 0xFF) {
            throw new IllegalArgumentException(value + " does not fit into a byte");
        }
        out.put((byte) value);
        return this;
    }

    public WireWriter flag(boolean value) {
        return u8(value ? 1 : 0);
    }

    public WireWriter u32(int value) {
        out.putInt(value);
        return this;
    }

    public WireWriter u64(long value) {
        out.putLong(value);
        return this;
    }

    /** Seven bits a byte, lowest first; the value counts as unsigned, so a negative one takes ten bytes. */
    public WireWriter varint(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            out.put((byte) (rest | 0x80));
            rest >>>= 7;
        }
        out.put((byte) rest);
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
        out.put(value);
        return this;
    }

    /** UTF-8, after its length in bytes. */
    public WireWriter text(String value) {
        int length = value.length();
        for (int i = 0; i < length; i++) {
            if (value.charAt(i) >= 0x80) {
                return bytes(value.getBytes(StandardCharsets.UTF_8));
            }
        }
        number(length);
        for (int i = 0; i < length; i++) {
            out.put((byte) value.charAt(i));
        }
        return this;
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
