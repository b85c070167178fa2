// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Turn;
import java.util.TreeSet;

/** When which session is to be looked at next. Deadlines only move later, so an entry is moved when it comes up, not at each frame. */
final class DeadlineQueue {
    private record Due(long at, long session) {}

    private final TreeSet<Due> list = new TreeSet<>((a, b) -> {
        long difference = a.at() - b.at();
        return difference != 0 ? Long.signum(difference) : Long.compare(a.session(), b.session());
    });

    /** Makes sure that the session is looked at by then. */
    void list(MemberSession session, long at) {
        if (session.listedAt != Turn.NEVER) {
            if (session.listedAt - at <= 0) {
                return;
            }
            list.remove(new Due(session.listedAt, session.peer.session()));
        }
        session.listedAt = at;
        list.add(new Due(at, session.peer.session()));
    }

    void remove(MemberSession session) {
        if (session.listedAt != Turn.NEVER) {
            list.remove(new Due(session.listedAt, session.peer.session()));
            session.listedAt = Turn.NEVER;
        }
    }

    long next() {
        return list.isEmpty() ? Turn.NEVER : list.first().at();
    }

    /** The number of a session whose time has come; 0 if there is none. */
    long due(long now) {
        return list.isEmpty() || list.first().at() - now > 0 ? 0 : list.first().session();
    }

    /** To a copy of the sessions, which know their own times. */
    void relist(MemberSession session) {
        if (session.listedAt != Turn.NEVER) {
            list.add(new Due(session.listedAt, session.peer.session()));
        }
    }
}
