// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import java.util.List;
import java.util.TreeSet;

/**
 * What a member's file says of the list of its last life.
 *
 * @param members the ids of all members
 * @param opened whether that life, or one before it, opened under the list; false also where the file is a copy of the
 *     one that was written, since its original may have seen other lists
 */
public record StoredList(List<String> members, boolean opened) {
    public StoredList {
        members = List.copyOf(new TreeSet<>(members));
    }
}
