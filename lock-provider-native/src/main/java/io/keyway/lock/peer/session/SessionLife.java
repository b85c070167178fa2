// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Peer;
import java.util.List;

/**
 * A live session, as the operating system may prove something of it.
 *
 * @param bytes of the machine's lock file that stand for the client: while one of them is locked, it lives; empty if it
 *     named none
 * @param told the client has told all that it had to tell when the session was opened, re-assertions included
 * @param link the link that was admitted last, or {@link #NO_LINK}
 */
public record SessionLife(Peer peer, List<Long> bytes, boolean told, long link) {
    public static final long NO_LINK = MemberSession.NO_LINK;
}
