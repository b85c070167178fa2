// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Owner;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a node holds, as lines of words for people who look with a tool of ZooKeeper's: who asked, and what has happened to
 * the grant since.
 *
 * @param granted whether its owner has told those behind it that it waits no more; permits only
 * @param broken why it was broken, if it was
 */
record Note(Owner owner, boolean granted, Optional<String> broken) {
    private static final int MAX_REASON = 4096;

    static Note of(Owner owner) {
        return new Note(owner, false, Optional.empty());
    }

    Note asGranted() {
        return new Note(owner, true, broken);
    }

    Note asBroken(String reason) {
        return new Note(
                owner, granted, Optional.of(reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason));
    }

    byte[] bytes() {
        StringBuilder text = new StringBuilder("client ").append(encode(owner.client()));
        owner.metadata()
                .forEach((key, value) ->
                        text.append("\nmeta ").append(encode(key)).append(' ').append(encode(value)));
        if (granted) {
            text.append("\ngranted");
        }
        broken.ifPresent(reason -> text.append("\nbroken ").append(encode(reason)));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Of what somebody else wrote it makes what it can; {@code bytes} is null if a tool wrote nothing. */
    static Note parse(byte @Nullable [] bytes) {
        String text = bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
        String client = "?";
        Map<String, String> metadata = new LinkedHashMap<>();
        boolean granted = false;
        String broken = null;
        for (String line : text.split("\n", -1)) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "client" -> client = decode(words, 1);
                case "meta" -> metadata.put(decode(words, 1), decode(words, 2));
                case "granted" -> granted = true;
                case "broken" -> broken = decode(words, 1);
                default -> {}
            }
        }
        return new Note(new Owner(client, metadata), granted, Optional.ofNullable(broken));
    }

    private static String encode(String text) {
        if (text.chars()
                .allMatch(c -> c < 0x80 && (Character.isLetterOrDigit(c) || c == '-' || c == '_' || c == '.'))) {
            return text;
        }
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decode(String[] words, int index) {
        try {
            return index < words.length ? URLDecoder.decode(words[index], StandardCharsets.UTF_8) : "";
        } catch (IllegalArgumentException e) {
            return words[index];
        }
    }
}
