// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * Who holds or waits, for people.
 *
 * @param client the name of the client
 * @param metadata what it said about itself, in the order of its keys; unmodifiable
 */
public record Owner(String client, Map<String, String> metadata) {
    /**
     * Copies the metadata into the order of its keys, so that equal owners read and travel alike.
     *
     * @param client see the record
     * @param metadata see the record
     */
    public Owner {
        Objects.requireNonNull(client, "client");
        metadata = metadata.isEmpty() ? Map.of() : sorted(metadata);
    }

    private static Map<String, String> sorted(Map<String, String> metadata) {
        Map<String, String> sorted = new TreeMap<>();
        metadata.forEach((key, value) -> sorted.put(key, Objects.requireNonNull(value, key)));
        return Collections.unmodifiableMap(sorted);
    }

    /**
     * {@return all of it as one text, for stores that keep texts: not empty, of any characters} {@link #parse} leads
     * back.
     */
    public String text() {
        return OwnerText.write(this);
    }

    /**
     * {@return the owner whose {@link #text} that is} Of a text that is none it makes the name of a client, for people
     * to read.
     *
     * @param text any text
     */
    public static Owner parse(String text) {
        return OwnerText.read(text);
    }
}
