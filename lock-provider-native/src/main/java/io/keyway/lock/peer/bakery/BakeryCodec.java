// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.bakery.BakeryMessage.Activated;
import io.keyway.lock.peer.bakery.BakeryMessage.AddTicket;
import io.keyway.lock.peer.bakery.BakeryMessage.Answer;
import io.keyway.lock.peer.bakery.BakeryMessage.Begin;
import io.keyway.lock.peer.bakery.BakeryMessage.Break;
import io.keyway.lock.peer.bakery.BakeryMessage.Broken;
import io.keyway.lock.peer.bakery.BakeryMessage.DropTicket;
import io.keyway.lock.peer.bakery.BakeryMessage.End;
import io.keyway.lock.peer.bakery.BakeryMessage.Entered;
import io.keyway.lock.peer.bakery.BakeryMessage.Entering;
import io.keyway.lock.peer.bakery.BakeryMessage.Leading;
import io.keyway.lock.peer.bakery.BakeryMessage.Look;
import io.keyway.lock.peer.bakery.BakeryMessage.OfRequest;
import io.keyway.lock.peer.bakery.BakeryMessage.Question;
import io.keyway.lock.peer.bakery.BakeryMessage.Refused;
import io.keyway.lock.peer.bakery.BakeryMessage.Relinquished;
import io.keyway.lock.peer.bakery.BakeryMessage.Reserved;
import io.keyway.lock.peer.bakery.BakeryMessage.Seen;
import io.keyway.lock.peer.bakery.BakeryMessage.Stands;
import io.keyway.lock.peer.bakery.BakeryMessage.TicketAdded;
import io.keyway.lock.peer.bakery.BakeryMessage.Yield;
import io.keyway.lock.peer.election.ElectionCodec;
import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.service.LockCodec;
import io.keyway.lock.peer.service.LockFields;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.List;

/**
 * The bodies: between clients and members those of a lock service, between members those of this algorithm. The name
 * and the number of a request come first in what is said to a leader, the meeting and the number in what it answers.
 */
final class BakeryCodec implements BodyCodec {
    /** The first type of what members say to each other. */
    private static final int FIRST = 128;

    /** By type, from the first one on. */
    private static final List<Class<? extends BakeryMessage>> KINDS = List.of(
            Begin.class,
            End.class,
            Entering.class,
            AddTicket.class,
            DropTicket.class,
            Relinquished.class,
            Stands.class,
            Entered.class,
            TicketAdded.class,
            Activated.class,
            Refused.class,
            Yield.class,
            Question.class,
            Break.class,
            Broken.class,
            Leading.class,
            Look.class,
            Seen.class);

    private static final int MAX_REASON = 1024;

    private final ElectionCodec elections = new ElectionCodec(BakeryKeys.ELECTION);
    private final LockCodec locks = new LockCodec(BakeryKeys.ALGORITHM);

    @Override
    public int algorithm() {
        return BakeryKeys.ALGORITHM;
    }

    @Override
    public int type(Message message) {
        return message instanceof BakeryMessage
                ? FIRST + KINDS.indexOf(message.getClass())
                : ElectionCodec.writes(message) ? elections.type(message) : locks.type(message);
    }

    @Override
    public long view(Message message) {
        return message instanceof BakeryMessage || ElectionCodec.writes(message) ? 0 : locks.view(message);
    }

    @Override
    public void write(Message message, WireWriter out) {
        if (ElectionCodec.writes(message)) {
            elections.write(message, out);
        } else if (!(message instanceof BakeryMessage)) {
            locks.write(message, out);
        } else if (message instanceof OfRequest said) {
            out.text(said.name()).number(said.number());
            if (said instanceof Entering entering) {
                LockFields.owner(entering.owner(), entering.mode().write(out).number(entering.waited()));
            } else if (said instanceof AddTicket add) {
                add.mode()
                        .write(out)
                        .number(add.ticket())
                        .number(add.process())
                        .flag(add.asks())
                        .flag(add.holds())
                        .number(add.age());
                LockFields.owner(add.owner(), out);
            } else if (said instanceof DropTicket drop) {
                out.number(drop.held() - DropTicket.NEVER_HELD);
            }
        } else if (message instanceof Answer answer) {
            out.number(answer.meeting()).number(answer.number());
            if (answer instanceof Entered entered) {
                out.number(entered.highest());
            } else if (answer instanceof TicketAdded added) {
                out.number(added.ahead()).number(added.holder().token());
                LockFields.mode(
                        added.holder().mode(),
                        out.number(Math.max(0, added.holder().nanos())));
                LockFields.owner(added.holder().owner(), out);
            }
        } else if (message instanceof Begin begin) {
            ElectionCodec.id(begin.since(), out.number(begin.life()).number(begin.meeting()));
        } else if (message instanceof End end) {
            out.number(end.meeting());
        } else if (message instanceof Break request) {
            out.number(request.number()).text(request.name()).number(request.token());
            out.text(request.reason());
        } else if (message instanceof Broken broken) {
            out.number(broken.number()).flag(broken.done());
        } else if (message instanceof Leading leading) {
            ElectionCodec.id(leading.since(), out.number(leading.highest()));
        } else if (message instanceof Look look) {
            out.number(look.number()).text(look.name());
        } else if (message instanceof Seen seen) {
            LockFields.participants(seen.holders(), out.number(seen.number()));
            LockFields.participants(seen.softWriters(), LockFields.participants(seen.waiters(), out));
            out.number(seen.more()).flag(seen.last());
        }
    }

    @Override
    public Message read(int type, long view, WireReader in) throws WireException {
        if (type < FIRST) {
            return locks.read(type, view, in);
        }
        if (type >= ElectionCodec.FIRST) {
            return elections.read(type, in);
        }
        if (type >= FIRST + KINDS.size()) {
            throw WireReader.unknown(BakeryKeys.ALGORITHM, type);
        }
        Class<? extends BakeryMessage> kind = KINDS.get(type - FIRST);
        if (OfRequest.class.isAssignableFrom(kind)) {
            return request(kind, in.text(LockFields.MAX_NAME), in.number(), in);
        }
        if (kind == Leading.class) {
            long highest = in.number();
            return new Leading(ElectionCodec.id(in), highest);
        }
        long first = in.number();
        if (Answer.class.isAssignableFrom(kind)) {
            return answer(kind, first, in.number(), in);
        } else if (kind == Look.class) {
            return new Look(first, in.text(LockFields.MAX_NAME));
        } else if (kind == Seen.class) {
            List<Participant> holders = LockFields.participants(in);
            List<Participant> waiters = LockFields.participants(in);
            return new Seen(first, holders, waiters, LockFields.participants(in), LockFields.integer(in), in.flag());
        }
        return kind == Begin.class
                ? new Begin(first, in.number(), ElectionCodec.id(in))
                : kind == End.class
                        ? new End(first)
                        : kind == Broken.class
                                ? new Broken(first, in.flag())
                                : new Break(first, in.text(LockFields.MAX_NAME), in.number(), in.text(MAX_REASON));
    }

    private static BakeryMessage request(Class<?> kind, String name, long number, WireReader in) throws WireException {
        if (kind == Entering.class) {
            RequestMode mode = RequestMode.read(in);
            long waited = in.number();
            return new Entering(name, number, mode, LockFields.owner(in), waited);
        } else if (kind == AddTicket.class) {
            RequestMode mode = RequestMode.read(in);
            long ticket = in.number(Ticket.MAX_STAMP);
            int process = (int) in.number(Ticket.MAX_PROCESS);
            boolean asks = in.flag();
            boolean holds = in.flag();
            long waited = in.number();
            return new AddTicket(name, number, mode, ticket, process, asks, holds, LockFields.owner(in), waited);
        }
        return kind == DropTicket.class
                ? new DropTicket(name, number, in.number() + DropTicket.NEVER_HELD)
                : kind == Relinquished.class ? new Relinquished(name, number) : new Stands(name, number);
    }

    private static BakeryMessage answer(Class<?> kind, long meeting, long number, WireReader in) throws WireException {
        if (kind == Entered.class) {
            return new Entered(meeting, number, in.number(Ticket.MAX_STAMP - 1));
        } else if (kind == TicketAdded.class) {
            int ahead = (int) in.number(Integer.MAX_VALUE);
            long token = in.number();
            long nanos = in.number();
            LockMode mode = LockFields.mode(in);
            Participant holder = new Participant(LockFields.owner(in), mode, 1, token, nanos);
            return new TicketAdded(meeting, number, ahead, holder);
        }
        return kind == Activated.class
                ? new Activated(meeting, number)
                : kind == Refused.class
                        ? new Refused(meeting, number)
                        : kind == Yield.class ? new Yield(meeting, number) : new Question(meeting, number);
    }

    /** What a member forces: how far tickets are reserved, which is never 0, and its seat; or 0 and a ballot. */
    static final class Records implements RecordCodec {
        private final ElectionCodec elections = new ElectionCodec(BakeryKeys.ELECTION);

        @Override
        public Key key(DurableRecord record) {
            return ElectionCodec.writes(record) ? BakeryKeys.ELECTION : BakeryKeys.LEADER;
        }

        @Override
        public void write(DurableRecord record, WireWriter out) {
            if (ElectionCodec.writes(record)) {
                elections.write(record, out.number(0));
            } else {
                Reserved reserved = (Reserved) record;
                ElectionCodec.id(reserved.since(), out.number(reserved.ticket()));
            }
        }

        @Override
        public DurableRecord read(WireReader in) throws WireException {
            long reserved = in.number(Ticket.MAX_STAMP);
            return reserved == 0 ? elections.record(in) : new Reserved(reserved, ElectionCodec.id(in));
        }
    }
}
