// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What the first bytes of a connection look like, for a word that helps whoever mixed up two ports. */
enum FirstBytes {
    /** The hello of a TLS client. */
    TLS_HELLO("it speaks TLS"),
    /** What a TLS server answers to something else. */
    TLS_ALERT("it speaks TLS"),
    HTTP_REQUEST("it speaks HTTP"),
    HTTP_ANSWER("it speaks HTTP"),
    SSH("it speaks SSH"),
    /** A frame may begin so. */
    FRAME("it speaks without TLS"),
    UNKNOWN("it sends bytes that no peer sends");

    /** So many bytes are enough to tell. */
    static final int ENOUGH = 5;

    private static final List<String> VERBS =
            List.of("GET ", "HEAD", "POST", "PUT ", "DELE", "CONN", "OPTI", "TRAC", "PATC", "PRI ");

    private final String words;

    FirstBytes(String words) {
        this.words = words;
    }

    /** Says what the other side does. */
    String words() {
        return words;
    }

    /** @param bytes from the first one on; not moved */
    static FirstBytes of(ByteBuffer bytes) {
        if (bytes.remaining() < 4) {
            return UNKNOWN;
        }
        byte[] first = new byte[4];
        bytes.get(bytes.position(), first);
        if (first[1] == 3 && (first[0] == 0x16 || first[0] == 0x15)) {
            return first[0] == 0x16 ? TLS_HELLO : TLS_ALERT;
        }
        if (first[0] == 0 && first[1] == 0) {
            return FRAME;
        }
        String text = new String(first, StandardCharsets.ISO_8859_1);
        if (VERBS.contains(text)) {
            return HTTP_REQUEST;
        }
        return switch (text) {
            case "HTTP" -> HTTP_ANSWER;
            case "SSH-" -> SSH;
            default -> UNKNOWN;
        };
    }
}
