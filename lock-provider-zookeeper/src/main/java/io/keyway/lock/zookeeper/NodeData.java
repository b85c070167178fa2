// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Owner;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The data of a request's node, as lines of text for people who look with a tool of ZooKeeper's: who asked, and whether
 * the request waits no more.
 *
 * @param granted whether its owner has told those behind it that it waits no more; permits only
 * @param since when it asked, by the ensemble's clock in milliseconds, if that was before its node was created; else 0
 */
record NodeData(Owner owner, boolean granted, long since) {

    static NodeData of(Owner owner) {
        return new NodeData(owner, false, 0);
    }

    NodeData asGranted() {
        return new NodeData(owner, true, since);
    }

    /** {@code millis}: when it asked, by the ensemble's clock. */
    NodeData since(long millis) {
        return new NodeData(owner, granted, millis);
    }

    byte[] bytes() {
        StringBuilder text = new StringBuilder("client ").append(encode(owner.client()));
        owner.metadata()
                .forEach((key, value) ->
                        text.append("\nmeta ").append(encode(key)).append(' ').append(encode(value)));
        if (granted) {
            text.append("\ngranted");
        }
        if (since > 0) {
            text.append("\nsince ").append(since);
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Reads as much as it can of what somebody else wrote; {@code bytes} is null if a tool wrote nothing. */
    static NodeData parse(byte @Nullable [] bytes) {
        String text = bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
        String client = "?";
        Map<String, String> metadata = new LinkedHashMap<>();
        boolean granted = false;
        long since = 0;
        for (String line : text.split("\n", -1)) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "client" -> client = decode(words, 1);
                case "meta" -> metadata.put(decode(words, 1), decode(words, 2));
                case "granted" -> granted = true;
                case "since" -> since = millis(words);
                default -> {}
            }
        }
        return new NodeData(new Owner(client, metadata), granted, since);
    }

    private static long millis(String[] words) {
        try {
            return words.length > 1 ? Long.parseLong(words[1]) : 0;
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    static String encode(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean plain = (c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z')
                    || (c >= '0' && c <= '9')
                    || c == '-'
                    || c == '_'
                    || c == '.'
                    || c == '@'
                    || c == ':';
            if (!plain) {
                return URLEncoder.encode(text, StandardCharsets.UTF_8);
            }
        }
        return text;
    }

    static String decode(String[] words, int index) {
        try {
            return index < words.length ? URLDecoder.decode(words[index], StandardCharsets.UTF_8) : "";
        } catch (IllegalArgumentException e) {
            return words[index];
        }
    }
}
