// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** The text of a URL while it is parsed. Its errors are masked and say where, by index. */
record UrlText(String raw) {
    private static final String SHAPE =
            " A lock URL is lock:<provider>[:<protocol>]://[user[:password]@]host[:port],.../path?option=value,"
                    + " or lock:jdbc:<driver's URL>.";

    /** Refuses what has no place in any URL. */
    void checkCharacters() {
        boolean spaces = raw.startsWith("lock:jdbc:");
        for (int i = 0; i < raw.length(); ) {
            int point = raw.codePointAt(i);
            if (Character.isISOControl(point)
                    || (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE)) {
                throw refuse("has a control character or unpaired surrogate at index " + i);
            }
            if (!spaces && (Character.isWhitespace(point) || Character.isSpaceChar(point))) {
                throw refuse("has white space at index " + i + "; write a space as %20");
            }
            i += Character.charCount(point);
        }
    }

    /** Returns the first index of the character in the range; {@code end} if there is none. */
    int indexOf(char c, int start, int end) {
        int index = raw.indexOf(c, start);
        return index < 0 || index > end ? end : index;
    }

    /** Percent-decodes a part, once. */
    String decode(int start, int end, String what) {
        if (indexOf('%', start, end) == end) {
            return raw.substring(start, end);
        }
        ByteBuffer bytes = ByteBuffer.allocate((end - start) * 3);
        for (int i = start; i < end; ) {
            int point = raw.codePointAt(i);
            if (point != '%') {
                bytes.put(Character.toString(point).getBytes(StandardCharsets.UTF_8));
                i += Character.charCount(point);
            } else if (i + 2 < end && hex(i + 1) >= 0 && hex(i + 2) >= 0) {
                bytes.put((byte) (hex(i + 1) << 4 | hex(i + 2)));
                i += 3;
            } else {
                throw refuse("has a % without two hex digits in " + what + " at index " + i
                        + "; write a plain % as %25 and a plain @ as %40");
            }
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
        } catch (CharacterCodingException e) {
            throw refuse("has percent-escapes in " + what + " at index " + start + " that are not UTF-8");
        }
    }

    /** As {@link #decode}, for a part that messages and listings show: it must decode to nothing but characters. */
    String decodeShown(int start, int end, String what) {
        String decoded = decode(start, end, what);
        if (decoded.chars().anyMatch(Character::isISOControl)) {
            throw refuse("has an escaped control character in " + what + " at index " + start);
        }
        return decoded;
    }

    InvalidLockUrlException refuse(String what) {
        return new InvalidLockUrlException(
                "The URL " + NameSyntax.quoted(UrlMask.malformed(raw)) + " " + what + "." + SHAPE);
    }

    private int hex(int index) {
        char c = raw.charAt(index);
        return c < 0x80 ? Character.digit(c, 16) : -1;
    }
}
