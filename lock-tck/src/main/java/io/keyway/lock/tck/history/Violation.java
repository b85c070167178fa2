// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.List;
import java.util.Map;

/**
 * A breach of a rule.
 *
 * @param rule its name
 * @param law the rule of the book that says so, as {@code LK-302}
 * @param text what is wrong
 * @param holds the requests that break it; at least one
 */
public record Violation(String rule, String law, String text, List<RecordedHold> holds) {
    private static final Map<String, String> LAWS = Map.of(
            "R1", "LK-301",
            "R2", "LK-302",
            "R3", "LK-502",
            "R5", "LK-602",
            "R7", "LK-502",
            "R12", "LK-1301");

    /** A breach of the rule of the book that the rule of that name stands for. */
    public Violation(String rule, String text, List<RecordedHold> holds) {
        this(rule, LAWS.getOrDefault(rule.split(" ", 2)[0], ""), text, holds);
    }
}
