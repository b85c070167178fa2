// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Call;
import java.util.List;

/**
 * Where each cell elects: the members of the group of another cell of this member, which has heard of them and said
 * {@link ListChanged}.
 *
 * @param shard the number of that cell
 */
public record ListOfCell(int shard, List<String> members) implements Call {
    /** Copies the list. */
    public ListOfCell {
        members = List.copyOf(members);
    }
}
