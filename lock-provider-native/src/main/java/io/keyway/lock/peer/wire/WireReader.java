// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads fields of one frame. Whatever the bytes are, each method returns a value within its bounds or throws
 * {@link WireException}, and allocates no more than the frame is long.
 */
public final class WireReader {
    /** The most bytes of metadata in one body. */
    public static final int MAX_METADATA = 1024;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    /** How many texts a reader of many frames knows again; a power of two. */
    private static final int RECENT = 256;

    private static final int LONGEST_RECENT = 64;

    private ByteBuffer in;

    /** The bytes of the last text, without what says how long it is. */
    private int textLength;

    /** By hash: names and owners come again and again, and each is one object then. Empty for a single frame. */
    private final @Nullable String[] recent;

    /** Reads from the buffer's position to its limit. */
    public WireReader(ByteBuffer in) {
        this(in, 0);
    }

    private WireReader(ByteBuffer in, int recent) {
        this.in = in;
        this.recent = new @Nullable String[recent];
    }

    static WireReader ofManyFrames() {
        return new WireReader(NOTHING, RECENT);
    }

    /** Reads that buffer from now on, from its position to its limit. */
    void over(ByteBuffer frame) {
        in = frame;
    }

    public int remaining() {
        return in.remaining();
    }

    private void need(int bytes) throws WireException {
        if (in.remaining() < bytes) {
            throw new WireException("the frame ends in the middle of a field");
        }
    }

    public int u8() throws WireException {
        need(1);
        return in.get() & 0xFF;
    }

    public boolean flag() throws WireException {
        int value = u8();
        if (value > 1) {
            throw new WireException("a flag of " + value);
        }
        return value == 1;
    }

    public int u32() throws WireException {
        need(4);
        return in.getInt();
    }

    public long u64() throws WireException {
        need(8);
        return in.getLong();
    }

    /** Any 64 bits, in their shortest form. */
    public long varint() throws WireException {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int next = u8();
            value |= (long) (next & 0x7F) << shift;
            if (next < 0x80) {
                if ((next == 0 && shift > 0) || (shift == 63 && next > 1)) {
                    throw new WireException("a number that is not in its shortest form");
                }
                return value;
            }
        }
        throw new WireException("a number of more than 64 bits");
    }

    /** A number of at most 63 bits. */
    public long number() throws WireException {
        return number(Long.MAX_VALUE);
    }

    public long number(long max) throws WireException {
        long value = varint();
        if (value < 0 || value > max) {
            throw new WireException("the number " + Long.toUnsignedString(value) + "; at most " + max);
        }
        return value;
    }

    /** A count of things that take at least so many bytes each: no more than can be there. */
    public int count(int max, int leastBytes) throws WireException {
        int count = (int) number(max);
        if ((long) count * leastBytes > in.remaining()) {
            throw new WireException(count + " elements in " + in.remaining() + " bytes");
        }
        return count;
    }

    public byte[] bytes(int max) throws WireException {
        int length = count(max, 1);
        byte[] value = new byte[length];
        in.get(value);
        return value;
    }

    /** Well-formed UTF-8 of at most so many bytes. */
    public String text(int maxBytes) throws WireException {
        int length = count(maxBytes, 1);
        textLength = length;
        int start = in.position();
        in.position(start + length);
        int hash = 0;
        for (int i = start; i < start + length; i++) {
            byte next = in.get(i);
            if (next < 0) {
                return decoded(in.slice(start, length));
            }
            hash = 31 * hash + next;
        }
        if (recent.length == 0 || length > LONGEST_RECENT) {
            return ascii(start, length);
        }
        int place = (hash ^ hash >>> 16) & recent.length - 1;
        String known = recent[place];
        if (known == null || !isThere(known, start, length)) {
            known = ascii(start, length);
            recent[place] = known;
        }
        return known;
    }

    private boolean isThere(String known, int start, int length) {
        if (known.length() != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (known.charAt(i) != in.get(start + i)) {
                return false;
            }
        }
        return true;
    }

    private String ascii(int start, int length) {
        byte[] bytes = new byte[length];
        in.get(start, bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static String decoded(ByteBuffer bytes) throws WireException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .onMalformedInput(CodingErrorAction.REPORT)
                    .onUnmappableCharacter(CodingErrorAction.REPORT)
                    .decode(bytes)
                    .toString();
        } catch (CharacterCodingException e) {
            throw new WireException("a text that is not UTF-8");
        }
    }

    /**
     * Pairs of texts with distinct keys, in their order; their bytes are at most {@link #MAX_METADATA}. Unmodifiable.
     */
    public Map<String, String> texts() throws WireException {
        int count = count(MAX_METADATA, 2);
        if (count == 0) {
            return Map.of();
        }
        Map<String, String> value = new LinkedHashMap<>();
        long length = 0;
        for (int i = 0; i < count; i++) {
            String key = text(MAX_METADATA);
            length += textLength;
            if (value.put(key, text(MAX_METADATA)) != null) {
                throw new WireException("metadata names a key twice");
            }
            length += textLength;
        }
        if (length > MAX_METADATA) {
            throw new WireException("metadata of " + length + " bytes; at most " + MAX_METADATA);
        }
        return Collections.unmodifiableMap(value);
    }

    /** What a codec throws for a type that it does not know. */
    public static WireException unknown(int algorithm, int type) {
        return new WireException("message type " + type + " of algorithm " + algorithm + " is unknown");
    }

    /** All of the frame was read. */
    public void end() throws WireException {
        if (in.hasRemaining()) {
            throw new WireException(in.remaining() + " bytes too many");
        }
    }
}
