// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionMessage.Ballot;
import io.keyway.lock.peer.election.ElectionMessage.Confirm;
import io.keyway.lock.peer.election.ElectionMessage.Confirmed;
import io.keyway.lock.peer.election.ElectionMessage.Desist;
import io.keyway.lock.peer.election.ElectionMessage.ElectionDate;
import io.keyway.lock.peer.election.ElectionMessage.Introduce;
import io.keyway.lock.peer.election.ElectionMessage.Leaders;
import io.keyway.lock.peer.election.ElectionMessage.Promised;
import io.keyway.lock.peer.election.ElectionMessage.Remind;
import io.keyway.lock.peer.election.ElectionMessage.Rerun;
import io.keyway.lock.peer.election.ElectionMessage.Retire;
import io.keyway.lock.peer.election.ElectionMessage.Vote;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * The bodies of an election, for the codec of the algorithm that uses it: types from {@link #FIRST} on are its own.
 */
public final class ElectionCodec {
    /** The first type. */
    public static final int FIRST = 192;

    private static final List<Class<? extends ElectionMessage>> KINDS = List.of(
            ElectionDate.class,
            Vote.class,
            Desist.class,
            Retire.class,
            Rerun.class,
            Leaders.class,
            Confirm.class,
            Confirmed.class,
            Remind.class,
            Promised.class,
            Introduce.class);

    private static final int MAX_ID = 300;
    private static final int MAX_SEATS = 64;
    /** The most members of a list. */
    static final int MAX_MEMBERS = 64;
    /** The most lists that a member has voted for since it adopted a view: more are not wanted in that time. */
    static final int MAX_LISTS = 64;
    /** Nobody led before that view. */
    private static final int FIRST_VIEW = 1;
    /** It says by which list it counts. */
    private static final int LISTED = 2;
    /** It says the numbers of its members. */
    private static final int NUMBERED = 4;

    private final Key key;

    /** @param key of the machine at each member */
    public ElectionCodec(Key key) {
        this.key = key;
    }

    /** The members of the latest view that a record has; empty if it has none. */
    public static List<String> members(DurableRecord record) {
        return record instanceof Ballot ballot ? ballot.adopted().members() : List.of();
    }

    /** Whether that is a message of an election. */
    public static boolean writes(Message message) {
        return message instanceof ElectionMessage;
    }

    /** Whether that is a record of an election. */
    public static boolean writes(DurableRecord record) {
        return record instanceof Ballot;
    }

    /** Its type. */
    public int type(Message message) {
        return FIRST + KINDS.indexOf(message.getClass());
    }

    /** Writes a message of an election. */
    public void write(Message message, WireWriter out) {
        if (message instanceof ElectionDate date) {
            identifier(date.identifier(), id(date.round(), out).number(date.left()));
            list(date.list(), id(date.promised(), id(date.adopted(), out)).flag(date.replaces()));
        } else if (message instanceof Vote vote) {
            identifier(vote.identifier(), id(vote.round(), out));
            lists(vote.open(), view(vote.adopted(), out).number(vote.recorded()).number(vote.left()));
        } else if (message instanceof Desist desist) {
            id(desist.promised(), id(desist.round(), out));
        } else if (message instanceof Retire retire) {
            id(retire.round(), out);
        } else if (message instanceof Rerun rerun) {
            id(rerun.round(), out);
        } else if (message instanceof Leaders leaders) {
            view(leaders.view(), out)
                    .number(leaders.recorded())
                    .number(leaders.left())
                    .flag(leaders.over());
        } else if (message instanceof Confirm confirm) {
            id(confirm.view(), out).u64(confirm.asked()).number(confirm.bound());
        } else if (message instanceof Confirmed confirmed) {
            id(confirmed.view(), out).u64(confirmed.asked()).number(confirmed.bound());
        } else if (message instanceof Introduce introduce) {
            out.text(introduce.member());
        } else if (message instanceof Promised promised) {
            view(promised.adopted(), id(promised.promised(), out));
            lists(promised.open(), out.number(promised.recorded()).flag(promised.sound()));
        }
    }

    /** Reads what {@link #write(Message, WireWriter)} wrote. */
    public Message read(int type, WireReader in) throws WireException {
        if (type < FIRST || type >= FIRST + KINDS.size()) {
            throw WireReader.unknown(key.algorithm(), type);
        }
        Class<?> kind = KINDS.get(type - FIRST);
        if (kind == Leaders.class) {
            return new Leaders(key, view(in), in.number(), left(in), in.flag());
        } else if (kind == Remind.class) {
            return new Remind(key);
        } else if (kind == Introduce.class) {
            return new Introduce(key, in.text(MAX_ID));
        }
        ViewId first = id(in);
        if (kind == ElectionDate.class) {
            return new ElectionDate(key, first, in.number(), identifier(in), id(in), id(in), in.flag(), list(in));
        } else if (kind == Vote.class) {
            return new Vote(key, first, identifier(in), view(in), in.number(), left(in), lists(in));
        } else if (kind == Desist.class) {
            return new Desist(key, first, id(in));
        } else if (kind == Confirm.class) {
            return new Confirm(key, first, in.u64(), in.number());
        } else if (kind == Confirmed.class) {
            return new Confirmed(key, first, in.u64(), in.number());
        } else if (kind == Promised.class) {
            return new Promised(key, first, view(in), in.number(), in.flag(), lists(in));
        }
        return kind == Retire.class ? new Retire(key, first) : new Rerun(key, first);
    }

    private static long left(WireReader in) throws WireException {
        long left = in.number();
        if (left > Membership.MAX_LONGEST_TTL) {
            throw new WireException("a lease of " + left + " ns");
        }
        return left;
    }

    /** Writes a record of an election. */
    public void write(DurableRecord record, WireWriter out) {
        Ballot ballot = (Ballot) record;
        lists(ballot.open(), view(ballot.adopted(), id(ballot.promised(), out)).number(ballot.recorded()));
    }

    /** Reads what {@link #write(DurableRecord, WireWriter)} wrote. */
    public DurableRecord record(WireReader in) throws WireException {
        ViewId promised = id(in);
        View adopted = view(in);
        long recorded = in.number();
        return new Ballot(key, promised, adopted, recorded, in.remaining() == 0 ? List.of() : lists(in));
    }

    /** Writes the name of a view. */
    public static WireWriter id(ViewId id, WireWriter out) {
        return out.number(id.round()).text(id.proposer()).number(id.life());
    }

    /** Reads the name of a view. */
    public static ViewId id(WireReader in) throws WireException {
        return new ViewId(in.number(), in.text(MAX_ID), in.number());
    }

    private static WireWriter identifier(Identifier identifier, WireWriter out) {
        return out.u8(identifier.priority()).number(identifier.random()).text(identifier.member());
    }

    private static Identifier identifier(WireReader in) throws WireException {
        int priority = (int) in.number(Identifier.OFF);
        return new Identifier(priority, (int) in.number((1 << Identifier.RANDOM_BITS) - 1), in.text(MAX_ID));
    }

    private static WireWriter view(View view, WireWriter out) {
        id(view.id(), out)
                .u8((view.first() ? FIRST_VIEW : 0) | LISTED | NUMBERED)
                .number(view.seats().size());
        for (View.Seat seat : view.seats()) {
            id(seat.since(), out.text(seat.leader()));
        }
        list(view.members(), out).number(view.numbers().last());
        view.numbers().numbers().forEach(out::number);
        return out;
    }

    private static WireWriter list(List<String> members, WireWriter out) {
        out.number(members.size());
        members.forEach(out::text);
        return out;
    }

    private static List<String> list(WireReader in) throws WireException {
        int count = in.count(MAX_MEMBERS, 1);
        List<String> members = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            members.add(in.text(MAX_ID));
        }
        return List.copyOf(members);
    }

    private static void lists(List<List<String>> all, WireWriter out) {
        out.number(all.size());
        all.forEach(each -> list(each, out));
    }

    private static List<List<String>> lists(WireReader in) throws WireException {
        int count = in.count(MAX_LISTS, 1);
        List<List<String>> all = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            all.add(list(in));
        }
        return List.copyOf(all);
    }

    private static View view(WireReader in) throws WireException {
        ViewId id = id(in);
        int flags = (int) in.number(FIRST_VIEW | LISTED | NUMBERED);
        int count = in.count(MAX_SEATS, 4);
        List<View.Seat> seats = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            seats.add(new View.Seat(in.text(MAX_ID), id(in)));
        }
        boolean first = (flags & FIRST_VIEW) != 0;
        // Files of a version in which the list did not change have none, and later ones had no numbers yet.
        List<String> members = (flags & LISTED) == 0 ? List.of() : list(in);
        return (flags & NUMBERED) == 0
                ? new View(id, seats, first, members)
                : new View(id, seats, first, members, numbers(members.size(), in));
    }

    private static MemberNumbers numbers(int count, WireReader in) throws WireException {
        int last = (int) in.number(MemberNumbers.LARGEST);
        List<Integer> numbers = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            numbers.add((int) in.number(MemberNumbers.LARGEST));
        }
        try {
            return new MemberNumbers(numbers, last);
        } catch (IllegalArgumentException e) {
            throw new WireException(String.valueOf(e.getMessage()));
        }
    }
}
