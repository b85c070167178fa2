// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * The bodies of lease messages. The view of a body is the epoch of its token, or 0; on the wire a token is its counter, and the view gives the rest. The fields of a body follow in the order of the
 * message's record, the name first.
 */
public final class LeaseCodec implements BodyCodec {
    /** The most bytes of a lock's name. */
    static final int MAX_NAME = 512;

    /** The most bytes of a client's name or of a reason. */
    static final int MAX_TEXT = 1024;

    static final int MAX_PARTIES = 1024;
    private static final long MAX_EPOCH = 0xFFFF_FFFFL;

    private static final int ACQUIRE = 1;
    private static final int WITHDRAW = 2;
    private static final int RELEASE = 3;
    private static final int ACCEPTED = 4;
    private static final int DENIED = 5;
    private static final int REVOKED = 6;
    private static final int REASSERT = 7;
    private static final int USE = 8;
    private static final int GRANTED = 9;
    private static final int NOT_GRANTED = 10;
    private static final int PLACE = 11;
    private static final int RECALL = 12;
    private static final int REVOKE = 13;
    private static final int REASSERTED = 14;
    private static final int QUERY = 15;
    private static final int LIST = 16;
    private static final int PAGE = 17;
    private static final int SHOW = 18;
    private static final int STATUS = 19;
    private static final int BREAK = 20;
    private static final int ANSWER = 21;
    private static final int MISDIRECTED = 22;

    /** In the order of their numbers on the wire. */
    private static final List<LockMode> MODES = List.of(LockMode.EXCLUSIVE, LockMode.SHARED, LockMode.PERMITS);

    private static final List<EndCause> ENDS = List.of(EndCause.EXPIRED, EndCause.BROKEN, EndCause.DENIED);

    private static final List<RefusalCause> REFUSALS = List.of(
            RefusalCause.HELD,
            RefusalCause.OPENING,
            RefusalCause.UNSUPPORTED,
            RefusalCause.CROWDED,
            RefusalCause.TOO_LONG);

    @Override
    public int algorithm() {
        return LeaseKeys.ALGORITHM;
    }

    @Override
    public int type(Message message) {
        if (message instanceof LeaseMessage.Acquire) {
            return ACQUIRE;
        } else if (message instanceof LeaseMessage.Withdraw) {
            return WITHDRAW;
        } else if (message instanceof LeaseMessage.Release) {
            return RELEASE;
        } else if (message instanceof LeaseMessage.Accepted) {
            return ACCEPTED;
        } else if (message instanceof LeaseMessage.Denied) {
            return DENIED;
        } else if (message instanceof LeaseMessage.Revoked) {
            return REVOKED;
        } else if (message instanceof LeaseMessage.Reassert) {
            return REASSERT;
        } else if (message instanceof LeaseMessage.Use) {
            return USE;
        } else if (message instanceof LeaseMessage.Granted) {
            return GRANTED;
        } else if (message instanceof LeaseMessage.NotGranted) {
            return NOT_GRANTED;
        } else if (message instanceof LeaseMessage.Place) {
            return PLACE;
        } else if (message instanceof LeaseMessage.Recall) {
            return RECALL;
        } else if (message instanceof LeaseMessage.Revoke) {
            return REVOKE;
        } else if (message instanceof LeaseMessage.Reasserted) {
            return REASSERTED;
        } else if (message instanceof LeaseMessage.Query) {
            return QUERY;
        } else if (message instanceof LeaseMessage.ListNames) {
            return LIST;
        } else if (message instanceof LeaseMessage.Page) {
            return PAGE;
        } else if (message instanceof LeaseMessage.Show) {
            return SHOW;
        } else if (message instanceof LeaseMessage.Status) {
            return STATUS;
        } else if (message instanceof LeaseMessage.Break) {
            return BREAK;
        } else if (message instanceof LeaseMessage.Answer) {
            return ANSWER;
        } else if (message instanceof LeaseMessage.Misdirected) {
            return MISDIRECTED;
        }
        throw new IllegalArgumentException("not a message of the lease service: " + message);
    }

    @Override
    public long view(Message message) {
        return Tokens.epoch(token(message));
    }

    /** The token that gives a message its view; 0 if it names none. */
    private static long token(Message message) {
        if (message instanceof LeaseMessage.Release release) {
            return release.token();
        } else if (message instanceof LeaseMessage.Accepted accepted) {
            return accepted.token();
        } else if (message instanceof LeaseMessage.Denied denied) {
            return denied.token();
        } else if (message instanceof LeaseMessage.Revoked revoked) {
            return revoked.asked();
        } else if (message instanceof LeaseMessage.Reassert claim) {
            return claim.token();
        } else if (message instanceof LeaseMessage.Use use) {
            return use.token();
        } else if (message instanceof LeaseMessage.Granted granted) {
            return granted.token();
        } else if (message instanceof LeaseMessage.Recall recall) {
            return recall.token();
        } else if (message instanceof LeaseMessage.Revoke revoke) {
            return revoke.token();
        } else if (message instanceof LeaseMessage.Reasserted reasserted) {
            return reasserted.token();
        } else if (message instanceof LeaseMessage.Query query) {
            return query.token();
        }
        return message instanceof LeaseMessage.Break request ? request.token() : 0;
    }

    @Override
    public void write(Message message, WireWriter out) {
        out.text(message.key().id());
        if (message instanceof LeaseMessage.Acquire m) {
            out.varint(m.request());
            mode(m.mode(), out);
            out.number(m.permits()).number(m.limit()).number(m.ttl());
            out.flag(m.noWait()).flag(m.wantPlace()).flag(m.cache()).number(m.waited());
            out.number(m.patience()).number(m.atLeast());
            owner(m.owner(), out);
        } else if (message instanceof LeaseMessage.Withdraw m) {
            out.varint(m.request());
        } else if (message instanceof LeaseMessage.Release m) {
            token(m.token(), out);
            used(m.token() - 1, m.used(), out);
        } else if (message instanceof LeaseMessage.Accepted m) {
            token(m.token(), out);
            used(m.token(), m.used(), out);
        } else if (message instanceof LeaseMessage.Denied m) {
            token(m.token(), out);
        } else if (message instanceof LeaseMessage.Revoked m) {
            token(m.asked(), out);
            out.number(m.token()).number(m.used());
        } else if (message instanceof LeaseMessage.Reassert m) {
            out.varint(m.request());
            token(m.token(), out);
            used(m.token(), m.used(), out);
            used(m.token(), m.hi(), out);
            mode(m.mode(), out);
            out.number(m.permits()).number(m.ttl());
            owner(m.owner(), out);
        } else if (message instanceof LeaseMessage.Use m) {
            out.varint(m.query());
            token(m.token(), out);
            out.number(m.current()).number(m.nanos());
            owner(m.owner(), out);
            parties(m.waiters(), out);
            out.number(m.more()).flag(m.last());
        } else if (message instanceof LeaseMessage.Break m) {
            out.varint(m.request());
            token(m.token(), out);
            out.text(m.reason());
        } else if (message instanceof LeaseMessage.Show m) {
            out.varint(m.request()).number(m.limit());
        } else if (message instanceof LeaseMessage.ListNames m) {
            out.varint(m.request()).text(m.prefix()).text(m.after()).number(m.max());
        } else {
            writeOfMember(message, out);
        }
    }

    private static void writeOfMember(Message message, WireWriter out) {
        if (message instanceof LeaseMessage.Granted m) {
            out.varint(m.request());
            token(m.token(), out);
            used(m.token(), m.hi(), out);
            out.flag(m.wanted());
        } else if (message instanceof LeaseMessage.NotGranted m) {
            out.varint(m.request()).u8(REFUSALS.indexOf(m.cause()));
            parties(m.holders(), out);
        } else if (message instanceof LeaseMessage.Place m) {
            out.varint(m.request()).number(m.ahead());
            parties(m.holders(), out);
        } else if (message instanceof LeaseMessage.Recall m) {
            token(m.token(), out);
        } else if (message instanceof LeaseMessage.Revoke m) {
            token(m.token(), out);
            out.u8(ENDS.indexOf(m.cause())).text(m.reason());
        } else if (message instanceof LeaseMessage.Reasserted m) {
            token(m.token(), out);
            out.flag(m.wanted());
        } else if (message instanceof LeaseMessage.Query m) {
            out.varint(m.query());
            token(m.token(), out);
        } else if (message instanceof LeaseMessage.Page m) {
            out.varint(m.request()).number(m.names().size());
            m.names().forEach(out::text);
            out.flag(m.more());
        } else if (message instanceof LeaseMessage.Status m) {
            out.varint(m.request());
            parties(m.holders(), out);
            parties(m.waiters(), out);
            out.number(m.more()).flag(m.last());
        } else if (message instanceof LeaseMessage.Answer m) {
            out.varint(m.request()).flag(m.done());
        } else if (message instanceof LeaseMessage.Misdirected m) {
            out.varint(m.request());
        }
    }

    private static void token(long token, WireWriter out) {
        out.number(Tokens.counter(token));
    }

    /** A token of the same grant, as its distance. */
    private static void used(long token, long used, WireWriter out) {
        out.number(Math.max(0, used - token));
    }

    static void mode(LockMode mode, WireWriter out) {
        out.u8(MODES.indexOf(mode));
    }

    static void owner(LeaseOwner owner, WireWriter out) {
        out.text(owner.client()).texts(owner.metadata());
    }

    private static void parties(List<Participant> parties, WireWriter out) {
        out.number(parties.size());
        for (Participant party : parties) {
            owner(party.owner(), out);
            mode(party.mode(), out);
            out.number(party.permits()).number(party.token());
            out.number(Math.max(0, party.nanos())).number(party.kept());
        }
    }

    @Override
    public Message read(int type, long view, WireReader in) throws WireException {
        if (view < 0 || view > MAX_EPOCH) {
            throw new WireException("an epoch of more than 32 bits");
        }
        Key key = new Key(LeaseKeys.ALGORITHM, in.text(MAX_NAME));
        return switch (type) {
            case ACQUIRE ->
                new LeaseMessage.Acquire(
                        key,
                        in.varint(),
                        mode(in),
                        integer(in),
                        integer(in),
                        ttl(in),
                        in.flag(),
                        in.flag(),
                        in.flag(),
                        in.number(),
                        in.number(),
                        in.number(),
                        owner(in));
            case WITHDRAW -> new LeaseMessage.Withdraw(key, in.varint());
            case RELEASE -> {
                long token = token(view, in);
                yield new LeaseMessage.Release(key, token, used(token - 1, in));
            }
            case ACCEPTED -> {
                long token = token(view, in);
                yield new LeaseMessage.Accepted(key, token, used(token, in));
            }
            case DENIED -> new LeaseMessage.Denied(key, token(view, in));
            case REVOKED -> new LeaseMessage.Revoked(key, token(view, in), in.number(), in.number());
            case REASSERT -> {
                long request = in.varint();
                long token = token(view, in);
                yield new LeaseMessage.Reassert(
                        key,
                        request,
                        token,
                        used(token, in),
                        used(token, in),
                        mode(in),
                        integer(in),
                        ttl(in),
                        owner(in));
            }
            case USE ->
                new LeaseMessage.Use(
                        key,
                        in.varint(),
                        token(view, in),
                        in.number(),
                        in.number(),
                        owner(in),
                        parties(in),
                        integer(in),
                        in.flag());
            case BREAK -> new LeaseMessage.Break(key, in.varint(), token(view, in), in.text(MAX_TEXT));
            case SHOW -> new LeaseMessage.Show(key, in.varint(), in.number());
            case LIST ->
                new LeaseMessage.ListNames(key, in.varint(), in.text(MAX_NAME), in.text(MAX_NAME), integer(in));
            default -> readOfMember(type, view, key, in);
        };
    }

    private static Message readOfMember(int type, long view, Key key, WireReader in) throws WireException {
        return switch (type) {
            case GRANTED -> {
                long request = in.varint();
                long token = token(view, in);
                yield new LeaseMessage.Granted(key, request, token, used(token, in), in.flag());
            }
            case NOT_GRANTED -> new LeaseMessage.NotGranted(key, in.varint(), pick(REFUSALS, in), parties(in));
            case PLACE -> new LeaseMessage.Place(key, in.varint(), integer(in), parties(in));
            case RECALL -> new LeaseMessage.Recall(key, token(view, in));
            case REVOKE -> new LeaseMessage.Revoke(key, token(view, in), pick(ENDS, in), in.text(MAX_TEXT));
            case REASSERTED -> new LeaseMessage.Reasserted(key, token(view, in), in.flag());
            case QUERY -> new LeaseMessage.Query(key, in.varint(), token(view, in));
            case PAGE -> {
                long request = in.varint();
                int count = in.count(LockDirectory.MAX_PAGE, 1);
                List<String> names = new ArrayList<>(count);
                for (int i = 0; i < count; i++) {
                    names.add(in.text(MAX_NAME));
                }
                yield new LeaseMessage.Page(key, request, List.copyOf(names), in.flag());
            }
            case STATUS -> new LeaseMessage.Status(key, in.varint(), parties(in), parties(in), integer(in), in.flag());
            case ANSWER -> new LeaseMessage.Answer(key, in.varint(), in.flag());
            case MISDIRECTED -> new LeaseMessage.Misdirected(key, in.varint());
            default -> throw WireReader.unknown(LeaseKeys.ALGORITHM, type);
        };
    }

    private static long token(long view, WireReader in) throws WireException {
        return Tokens.of(view, in.number(Tokens.MAX_COUNTER));
    }

    private static long used(long token, WireReader in) throws WireException {
        return token + in.number(Tokens.MAX_COUNTER - Tokens.counter(token));
    }

    static long ttl(WireReader in) throws WireException {
        long ttl = in.number();
        if (ttl == 0) {
            throw new WireException("a ttl of 0");
        }
        return ttl;
    }

    static int integer(WireReader in) throws WireException {
        return (int) in.number(Integer.MAX_VALUE);
    }

    static LockMode mode(WireReader in) throws WireException {
        return pick(MODES, in);
    }

    private static <E> E pick(List<E> of, WireReader in) throws WireException {
        int index = in.u8();
        if (index >= of.size()) {
            throw new WireException("the choice " + index + " of " + of.size());
        }
        return of.get(index);
    }

    static LeaseOwner owner(WireReader in) throws WireException {
        return new LeaseOwner(in.text(MAX_TEXT), in.texts());
    }

    private static List<Participant> parties(WireReader in) throws WireException {
        int count = in.count(MAX_PARTIES, 6);
        List<Participant> parties = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            parties.add(new Participant(owner(in), mode(in), integer(in), in.number(), in.number(), in.number()));
        }
        return List.copyOf(parties);
    }
}
