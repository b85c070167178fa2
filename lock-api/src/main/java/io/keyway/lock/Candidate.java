// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * Who stands for an election, or leads.
 *
 * @param name the name under which it stands
 * @param leads whether it holds the lock of the election
 * @param token its fencing token, if it leads
 * @param since how long it has led, or stood
 * @param metadata what it says about itself
 */
public record Candidate(String name, boolean leads, OptionalLong token, Duration since, Map<String, String> metadata) {
    /**
     * Copies the metadata.
     *
     * @param name see the record
     * @param leads see the record
     * @param token see the record
     * @param since see the record
     * @param metadata see the record
     */
    public Candidate {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(since, "since");
        metadata = Map.copyOf(metadata);
    }
}
