// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
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

    private static final byte[] NOTHING = {};
    /** How many texts a reader of many frames knows again; a power of two. */
    private static final int RECENT = 256;

    private static final int LONGEST_RECENT = 64;

    /** A text that was read, and its bytes. */
    private static final class Known {
        final String text;
        final byte[] bytes;

        Known(String text, byte[] bytes) {
            this.text = text;
            this.bytes = bytes;
        }
    }

    /** On a plain array, since a member or client that has just started interprets each call for each byte. */
    private byte[] in;

    private int position;
    private int end;
    /** Used again for frames that come in other memory. */
    private byte[] copied = NOTHING;

    /** The bytes of the last text, without what says how long it is. */
    private int textLength;

    /** By hash: names and owners come again and again, and each is one object then. Empty for a single frame. */
    private final @Nullable Known[] recent;

    /** Reads these bytes, all of them. */
    public WireReader(byte[] in) {
        this(in, 0);
    }

    private WireReader(byte[] in, int recent) {
        this.in = in;
        this.end = in.length;
        this.recent = new @Nullable Known[recent];
    }

    static WireReader ofManyFrames() {
        return new WireReader(NOTHING, RECENT);
    }

    /** Reads that buffer from now on, from its position to its limit, which must not be written meanwhile. */
    void over(ByteBuffer frame) {
        int length = frame.remaining();
        if (frame.hasArray()) {
            in = frame.array();
            position = frame.arrayOffset() + frame.position();
        } else {
            if (copied.length < length) {
                copied = new byte[Math.max(length, Math.min(2 * copied.length, FrameCodec.MAX_FRAME))];
            }
            frame.get(copied, 0, length);
            in = copied;
            position = 0;
        }
        end = position + length;
    }

    public int remaining() {
        return end - position;
    }

    /** The place of that many bytes, which are read next. */
    private int next(int count) throws WireException {
        int start = position;
        if (end - start < count) {
            throw new WireException("the frame ends in the middle of a field");
        }
        position = start + count;
        return start;
    }

    public int u8() throws WireException {
        return in[next(1)] & 0xFF;
    }

    public boolean flag() throws WireException {
        int value = u8();
        if (value > 1) {
            throw new WireException("a flag of " + value);
        }
        return value == 1;
    }

    public int u32() throws WireException {
        return u32At(next(4));
    }

    public long u64() throws WireException {
        int at = next(8);
        return ((long) u32At(at) << 32) | (u32At(at + 4) & 0xFFFF_FFFFL);
    }

    private int u32At(int at) {
        return (in[at] << 24) | ((in[at + 1] & 0xFF) << 16) | ((in[at + 2] & 0xFF) << 8) | (in[at + 3] & 0xFF);
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
        if ((long) count * leastBytes > remaining()) {
            throw new WireException(count + " elements in " + remaining() + " bytes");
        }
        return count;
    }

    public byte[] bytes(int max) throws WireException {
        int length = count(max, 1);
        int start = next(length);
        return Arrays.copyOfRange(in, start, start + length);
    }

    /** Well-formed UTF-8 of at most so many bytes. */
    public String text(int maxBytes) throws WireException {
        int length = count(maxBytes, 1);
        textLength = length;
        int start = next(length);
        int hash = 0;
        for (int i = start; i < start + length; i++) {
            byte next = in[i];
            if (next < 0) {
                return decoded(ByteBuffer.wrap(in, start, length));
            }
            hash = 31 * hash + next;
        }
        if (recent.length == 0 || length > LONGEST_RECENT) {
            return ascii(start, length);
        }
        int place = (hash ^ hash >>> 16) & recent.length - 1;
        Known known = recent[place];
        if (known == null || !Arrays.equals(known.bytes, 0, known.bytes.length, in, start, start + length)) {
            known = new Known(ascii(start, length), Arrays.copyOfRange(in, start, start + length));
            recent[place] = known;
        }
        return known.text;
    }

    private String ascii(int start, int length) {
        return new String(in, start, length, StandardCharsets.ISO_8859_1);
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
        if (remaining() > 0) {
            throw new WireException(remaining() + " bytes too many");
        }
    }
}
