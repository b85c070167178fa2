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
 */
record NodeData(Owner owner, boolean granted) {

    static NodeData of(Owner owner) {
        return new NodeData(owner, false);
    }

    NodeData asGranted() {
        return new NodeData(owner, true);
    }

    byte[] bytes() {
        StringBuilder text = new StringBuilder("client ").append(encode(owner.client()));
        owner.metadata()
                .forEach((key, value) ->
                        text.append("\nmeta ").append(encode(key)).append(' ').append(encode(value)));
        if (granted) {
            text.append("\ngranted");
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Reads as much as it can of what somebody else wrote; {@code bytes} is null if a tool wrote nothing. */
    static NodeData parse(byte @Nullable [] bytes) {
        String text = bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
        String client = "?";
        Map<String, String> metadata = new LinkedHashMap<>();
        boolean granted = false;
        for (String line : text.split("\n", -1)) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "client" -> client = decode(words, 1);
                case "meta" -> metadata.put(decode(words, 1), decode(words, 2));
                case "granted" -> granted = true;
                default -> {}
            }
        }
        return new NodeData(new Owner(client, metadata), granted);
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
