// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** The rule that lock names obey, and their escaped form. */
final class NameSyntax {
    private static final String RULE = " A name is 1 to " + LockName.MAX_SEGMENTS + " non-empty segments joined by /,"
            + " at most " + LockName.MAX_BYTES + " bytes of UTF-8, without control characters.";
    private static final char[] HEX = "0123456789ABCDEF".toCharArray();

    private NameSyntax() {}

    static void check(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("The lock name is empty." + RULE);
        }
        int bytes = 0;
        int segments = 1;
        int segmentStart = 0;
        int i = 0;
        while (i < text.length()) {
            int point = text.codePointAt(i);
            if (point == '/') {
                if (i == segmentStart) {
                    throw refuse(text, i == 0 ? "starts with /" : "has an empty segment at index " + i);
                }
                segments++;
                segmentStart = i + 1;
            } else if (Character.getType(point) == Character.CONTROL) {
                throw refuse(text, String.format("has the control character U+%04X at index %d", point, i));
            } else if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                throw refuse(text, String.format("has the unpaired surrogate U+%04X at index %d", point, i));
            }
            bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
            i += Character.charCount(point);
        }
        if (segmentStart == text.length()) {
            throw refuse(text, "ends with /");
        }
        if (segments > LockName.MAX_SEGMENTS) {
            throw refuse(text, "has " + segments + " segments, more than " + LockName.MAX_SEGMENTS);
        }
        if (bytes > LockName.MAX_BYTES) {
            throw refuse(text, "is " + bytes + " bytes long in UTF-8, more than " + LockName.MAX_BYTES);
        }
    }

    private static IllegalArgumentException refuse(String text, String what) {
        return new IllegalArgumentException("The lock name " + quoted(text) + " " + what + "." + RULE);
    }

    /** For messages: without control characters or broken surrogates, and not longer than a line. */
    static String quoted(String text) {
        StringBuilder out = new StringBuilder().append('"');
        int i = 0;
        while (i < text.length()) {
            if (out.length() > 80) {
                return out.append("...\"").toString();
            }
            int point = text.codePointAt(i);
            boolean odd = Character.isISOControl(point)
                    || (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
            if (odd) {
                out.append(String.format("\\u%04X", point));
            } else {
                out.appendCodePoint(point);
            }
            i += Character.charCount(point);
        }
        return out.append('"').toString();
    }

    static String escape(String value) {
        StringBuilder out = new StringBuilder(value.length() + 16);
        boolean first = true;
        for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
            boolean plain = (b >= 'a' && b <= 'z')
                    || (b >= 'A' && b <= 'Z')
                    || (b >= '0' && b <= '9')
                    || b == '-'
                    || b == '_'
                    || b == '/'
                    || (b == '.' && !first);
            if (plain) {
                out.append((char) b);
            } else {
                out.append('%').append(HEX[(b >> 4) & 15]).append(HEX[b & 15]);
            }
            first = b == '/';
        }
        return out.toString();
    }

    static String unescape(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%' && i + 2 < text.length() && hex(text, i + 1) >= 0 && hex(text, i + 2) >= 0) {
                bytes.write(hex(text, i + 1) << 4 | hex(text, i + 2));
                i += 2;
            } else if (c == '%' || c >= 0x80) {
                throw new IllegalArgumentException(
                        "not the escaped form of a lock name: " + quoted(text) + " at index " + i);
            } else {
                bytes.write(c);
            }
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("not the escaped form of a lock name: " + quoted(text), e);
        }
    }

    private static int hex(String text, int index) {
        return Character.digit(text.charAt(index), 16);
    }
}
