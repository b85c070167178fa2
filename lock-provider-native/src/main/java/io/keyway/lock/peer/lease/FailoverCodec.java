// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.election.ElectionCodec;
import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.lease.NotesMessage.Note;
import io.keyway.lock.peer.lease.NotesMessage.Take;
import io.keyway.lock.peer.lease.NotesMessage.Taken;
import io.keyway.lock.peer.lease.NotesMessage.Write;
import io.keyway.lock.peer.lease.NotesMessage.Written;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * The bodies: between clients and the leader those of a lock service, between members those of an election, and of
 * notes about clients.
 */
final class FailoverCodec implements BodyCodec {
    private static final int FIRST_OF_NOTES = 176;
    private static final List<Class<? extends NotesMessage>> NOTES =
            List.of(Take.class, Taken.class, Write.class, Written.class);

    private final ElectionCodec elections = new ElectionCodec(FailoverKeys.ELECTION);
    private final LockCodec locks = new LockCodec(FailoverKeys.ALGORITHM);

    @Override
    public int algorithm() {
        return FailoverKeys.ALGORITHM;
    }

    @Override
    public int type(Message message) {
        return message instanceof NotesMessage
                ? FIRST_OF_NOTES + NOTES.indexOf(message.getClass())
                : ElectionCodec.writes(message) ? elections.type(message) : locks.type(message);
    }

    @Override
    public long view(Message message) {
        return message instanceof NotesMessage || ElectionCodec.writes(message) ? 0 : locks.view(message);
    }

    @Override
    public void write(Message message, WireWriter out) {
        if (message instanceof NotesMessage said) {
            write(said, ElectionCodec.id(said.seat(), out));
        } else if (ElectionCodec.writes(message)) {
            elections.write(message, out);
        } else {
            locks.write(message, out);
        }
    }

    private static void write(NotesMessage message, WireWriter out) {
        if (message instanceof Taken taken) {
            notes(taken.notes(), out).flag(taken.last()).flag(taken.complete());
        } else if (message instanceof Write write) {
            notes(write.notes(), out.number(write.from()).number(write.to()))
                    .flag(write.last())
                    .flag(write.complete());
        } else if (message instanceof Written written) {
            out.number(written.to());
        }
    }

    private static WireWriter notes(List<Note> notes, WireWriter out) {
        out.number(notes.size());
        notes.forEach(
                note -> out.u64(note.client().high()).u64(note.client().low()).number(note.ttl()));
        return out;
    }

    private static NotesMessage notes(int type, WireReader in) throws WireException {
        ViewId seat = ElectionCodec.id(in);
        Class<?> kind = NOTES.get(type - FIRST_OF_NOTES);
        if (kind == Take.class) {
            return new Take(seat);
        } else if (kind == Taken.class) {
            return new Taken(seat, notes(in), in.flag(), in.flag());
        } else if (kind == Write.class) {
            return new Write(seat, in.number(), in.number(), notes(in), in.flag(), in.flag());
        }
        return new Written(seat, in.number());
    }

    private static List<Note> notes(WireReader in) throws WireException {
        int count = in.count(ClientNotes.PAGE, 2 * Long.BYTES + 1);
        List<Note> notes = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            notes.add(new Note(new Incarnation(in.u64(), in.u64()), in.number()));
        }
        return notes;
    }

    @Override
    public Message read(int type, long view, WireReader in) throws WireException {
        if (type >= FIRST_OF_NOTES && type < FIRST_OF_NOTES + NOTES.size()) {
            return notes(type, in);
        }
        return type >= ElectionCodec.FIRST ? elections.read(type, in) : locks.read(type, view, in);
    }

    /** What a member forces: whether it was open by its seat, or a ballot. */
    static final class Records implements RecordCodec {
        private final ElectionCodec elections = new ElectionCodec(FailoverKeys.ELECTION);

        @Override
        public Key key(DurableRecord record) {
            return ElectionCodec.writes(record) ? FailoverKeys.ELECTION : FailoverKeys.LEADERSHIP;
        }

        @Override
        public List<String> members(DurableRecord record) {
            return ElectionCodec.members(record);
        }

        @Override
        public void write(DurableRecord record, WireWriter out) {
            if (ElectionCodec.writes(record)) {
                elections.write(record, out.flag(false));
            } else {
                ElectionCodec.id(((Leadership.Opened) record).since(), out.flag(true));
            }
        }

        @Override
        public DurableRecord read(WireReader in) throws WireException {
            return in.flag() ? new Leadership.Opened(ElectionCodec.id(in)) : elections.record(in);
        }
    }
}
