// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A page of a listing.
 *
 * @param locks in an order of the provider's
 * @param next an opaque cursor to pass as {@code after} for the next page; empty on the last
 */
public record LockPage(List<LockStatus> locks, Optional<String> next) {
    /**
     * Copies the list.
     *
     * @param locks see the record
     * @param next see the record
     */
    public LockPage {
        locks = List.copyOf(locks);
        Objects.requireNonNull(next, "next");
    }
}
