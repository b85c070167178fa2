// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.List;

/** What no history may break. */
@FunctionalInterface
public interface Rule {
    /** Returns all breaches; none if the history is good. */
    List<Violation> check(History history);
}
