// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.session.Incarnation;
import java.util.List;

/** What a leader and the members say to each other of the clients that can hold something. */
sealed interface NotesMessage extends Message {
    /**
     * A client can hold something.
     *
     * @param ttl of its longest lease, in nanoseconds; 0 if it holds nothing any more
     */
    record Note(Incarnation client, long ttl) {}

    /** Since which view the leader has its seat that says this, or that is answered. */
    ViewId seat();

    /** Of a leader that has just got its seat: it asks for the notes of a member. */
    record Take(ViewId seat) implements NotesMessage {}

    /**
     * A part of the answer to {@link Take}.
     *
     * @param last it is the last part
     * @param complete its sender has not lost what it had noted
     */
    record Taken(ViewId seat, List<Note> notes, boolean last, boolean complete) implements NotesMessage {
        public Taken {
            notes = List.copyOf(notes);
        }
    }

    /**
     * Of a leader: what it has noted after one number, up to another one.
     *
     * @param from the number of the last note that was said before; 0 if all notes are said from the first on
     * @param to the number of the last one of these
     * @param last those that follow are not written yet
     * @param complete these are all notes, and not only those that were made in this life of the leader
     */
    record Write(ViewId seat, long from, long to, List<Note> notes, boolean last, boolean complete)
            implements NotesMessage {
        public Write {
            notes = List.copyOf(notes);
        }
    }

    /** Its sender has noted all that is written up to that number. */
    record Written(ViewId seat, long to) implements NotesMessage {}

    @Override
    default Key key() {
        return FailoverKeys.LEADERSHIP;
    }
}
