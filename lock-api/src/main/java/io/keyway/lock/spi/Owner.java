// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.util.Map;
import java.util.Objects;

/**
 * Who holds or waits, for people.
 *
 * @param client the name of the client
 * @param metadata what it said about itself
 */
public record Owner(String client, Map<String, String> metadata) {
    /** Copies the metadata. */
    public Owner {
        Objects.requireNonNull(client, "client");
        metadata = Map.copyOf(metadata);
    }
}
