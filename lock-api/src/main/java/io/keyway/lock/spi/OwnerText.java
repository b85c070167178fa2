// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.util.LinkedHashMap;
import java.util.Map;

/** An owner as text: the client and then each key and value of its metadata, each after its length and a colon. */
final class OwnerText {

    private OwnerText() {}

    static String write(Owner owner) {
        StringBuilder text = new StringBuilder();
        append(text, owner.client());
        owner.metadata().forEach((key, value) -> {
            append(text, key);
            append(text, value);
        });
        return text.toString();
    }

    /** Of a text that is none of ours, it is the client. */
    static Owner read(String text) {
        try {
            Reader reader = new Reader(text);
            String client = reader.next();
            Map<String, String> metadata = new LinkedHashMap<>();
            while (!reader.atEnd()) {
                metadata.put(reader.next(), reader.next());
            }
            return new Owner(client, metadata);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            return new Owner(text, Map.of());
        }
    }

    private static void append(StringBuilder text, String part) {
        text.append(part.length()).append(':').append(part);
    }

    private static final class Reader {
        private final String text;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        boolean atEnd() {
            return at >= text.length();
        }

        String next() {
            int colon = text.indexOf(':', at);
            int begin = colon + 1;
            at = begin + Integer.parseInt(text.substring(at, colon));
            return text.substring(begin, at);
        }
    }
}
