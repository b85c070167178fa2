// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * Who asks, holds or waits, for people.
 *
 * @param client the client's name
 * @param metadata what it said about itself, in the order of its keys
 */
public record LeaseOwner(String client, Map<String, String> metadata) {
    /** Copies the metadata into sorted order, so that equal owners read and travel alike. */
    public LeaseOwner {
        metadata = metadata.isEmpty() ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(metadata));
    }
}
