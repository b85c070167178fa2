// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Objects;

/**
 * A promise with its condition.
 *
 * @param grade how firm it is
 * @param condition under what condition, in words; may be empty
 */
public record Guarantee(Grade grade, String condition) {
    /**
     * Checks that nothing is null.
     *
     * @param grade see the record
     * @param condition see the record
     */
    public Guarantee {
        Objects.requireNonNull(grade, "grade");
        Objects.requireNonNull(condition, "condition");
    }
}
