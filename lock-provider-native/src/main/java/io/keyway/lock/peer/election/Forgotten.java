// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.kernel.Notice;
import java.util.List;

/**
 * This member has lost what it promised, and takes no part before it has learned that; an operator should hear of it.
 *
 * @param missing the members that have not said yet what they have promised
 */
public record Forgotten(List<String> missing) implements Notice {
    /** Copies the list. */
    public Forgotten {
        missing = List.copyOf(missing);
    }
}
