// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Notice;
import java.util.List;

/**
 * Those are the members from now on, as far as this one knows; an operator should hear of it.
 *
 * @param removed this member was one, and is none any more
 */
public record ListChanged(List<String> members, boolean removed) implements Notice {
    /** Copies the list. */
    public ListChanged {
        members = List.copyOf(members);
    }
}
