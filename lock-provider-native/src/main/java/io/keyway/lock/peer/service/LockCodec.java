// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;

/**
 * The bodies of lease messages. The view of a body is the epoch of its token, or 0; on the wire a token is its counter, and the view gives the rest. The fields of a body follow in the order of the
 * message's record, the name first.
 */
public final class LockCodec implements BodyCodec {
    /** The most bytes of a lock's name. */
    public static final int MAX_NAME = 512;

    /** The most bytes of a client's name or of a reason. */
    static final int MAX_TEXT = 1024;

    static final int MAX_PARTIES = 1024;

    /** The most names in one page of a directory. */
    public static final int MAX_PAGE = 256;

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

    private static final List<LeaseLoss.Cause> ENDS =
            List.of(LeaseLoss.Cause.EXPIRED, LeaseLoss.Cause.BROKEN, LeaseLoss.Cause.DENIED);

    private static final List<RefusalCause> REFUSALS = List.of(
            RefusalCause.HELD,
            RefusalCause.OPENING,
            RefusalCause.UNSUPPORTED,
            RefusalCause.CROWDED,
            RefusalCause.TOO_LONG);

    private final int algorithm;

    /** @param algorithm whose messages these are */
    public LockCodec(int algorithm) {
        this.algorithm = algorithm;
    }

    @Override
    public int algorithm() {
        return algorithm;
    }

    @Override
    public int type(Message message) {
        if (message instanceof LockMessage.Acquire) {
            return ACQUIRE;
        } else if (message instanceof LockMessage.Withdraw) {
            return WITHDRAW;
        } else if (message instanceof LockMessage.Release) {
            return RELEASE;
        } else if (message instanceof LockMessage.Accepted) {
            return ACCEPTED;
        } else if (message instanceof LockMessage.Denied) {
            return DENIED;
        } else if (message instanceof LockMessage.Revoked) {
            return REVOKED;
        } else if (message instanceof LockMessage.Reassert) {
            return REASSERT;
        } else if (message instanceof LockMessage.Use) {
            return USE;
        } else if (message instanceof LockMessage.Granted) {
            return GRANTED;
        } else if (message instanceof LockMessage.NotGranted) {
            return NOT_GRANTED;
        } else if (message instanceof LockMessage.Place) {
            return PLACE;
        } else if (message instanceof LockMessage.Recall) {
            return RECALL;
        } else if (message instanceof LockMessage.Revoke) {
            return REVOKE;
        } else if (message instanceof LockMessage.Reasserted) {
            return REASSERTED;
        } else if (message instanceof LockMessage.Query) {
            return QUERY;
        } else if (message instanceof LockMessage.ListNames) {
            return LIST;
        } else if (message instanceof LockMessage.Page) {
            return PAGE;
        } else if (message instanceof LockMessage.Show) {
            return SHOW;
        } else if (message instanceof LockMessage.Status) {
            return STATUS;
        } else if (message instanceof LockMessage.Break) {
            return BREAK;
        } else if (message instanceof LockMessage.Answer) {
            return ANSWER;
        } else if (message instanceof LockMessage.Misdirected) {
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
        if (message instanceof LockMessage.Release release) {
            return release.token();
        } else if (message instanceof LockMessage.Accepted accepted) {
            return accepted.token();
        } else if (message instanceof LockMessage.Denied denied) {
            return denied.token();
        } else if (message instanceof LockMessage.Revoked revoked) {
            return revoked.asked();
        } else if (message instanceof LockMessage.Reassert claim) {
            return claim.token();
        } else if (message instanceof LockMessage.Use use) {
            return use.token();
        } else if (message instanceof LockMessage.Granted granted) {
            return granted.token();
        } else if (message instanceof LockMessage.Recall recall) {
            return recall.token();
        } else if (message instanceof LockMessage.Revoke revoke) {
            return revoke.token();
        } else if (message instanceof LockMessage.Reasserted reasserted) {
            return reasserted.token();
        } else if (message instanceof LockMessage.Query query) {
            return query.token();
        }
        return message instanceof LockMessage.Break request ? request.token() : 0;
    }

    @Override
    public void write(Message message, WireWriter out) {
        out.text(message.key().id());
        if (message instanceof LockMessage.Acquire m) {
            out.varint(m.request());
            mode(m.mode(), out);
            out.number(m.permits()).number(m.limit()).number(m.ttl());
            out.flag(m.noWait()).flag(m.wantPlace()).flag(m.cache()).number(m.waited());
            out.number(m.patience()).number(m.atLeast());
            owner(m.owner(), out);
        } else if (message instanceof LockMessage.Withdraw m) {
            out.varint(m.request());
        } else if (message instanceof LockMessage.Release m) {
            token(m.token(), out);
            used(m.token() - 1, m.used(), out);
        } else if (message instanceof LockMessage.Accepted m) {
            token(m.token(), out);
            used(m.token(), m.used(), out);
        } else if (message instanceof LockMessage.Denied m) {
            token(m.token(), out);
        } else if (message instanceof LockMessage.Revoked m) {
            token(m.asked(), out);
            out.number(m.token()).number(m.used());
        } else if (message instanceof LockMessage.Reassert m) {
            out.varint(m.request());
            token(m.token(), out);
            used(m.token(), m.used(), out);
            used(m.token(), m.hi(), out);
            mode(m.mode(), out);
            out.number(m.permits()).number(m.ttl());
            owner(m.owner(), out);
        } else if (message instanceof LockMessage.Use m) {
            out.varint(m.query());
            token(m.token(), out);
            out.number(m.current()).number(m.nanos());
            owner(m.owner(), out);
            parties(m.waiters(), out);
            out.number(m.more()).flag(m.last());
        } else if (message instanceof LockMessage.Break m) {
            out.varint(m.request());
            token(m.token(), out);
            out.text(m.reason());
        } else if (message instanceof LockMessage.Show m) {
            out.varint(m.request()).number(m.limit());
        } else if (message instanceof LockMessage.ListNames m) {
            out.varint(m.request()).text(m.prefix()).text(m.after()).number(m.max());
        } else {
            writeOfMember(message, out);
        }
    }

    private static void writeOfMember(Message message, WireWriter out) {
        if (message instanceof LockMessage.Granted m) {
            out.varint(m.request());
            token(m.token(), out);
            used(m.token(), m.hi(), out);
            out.flag(m.wanted());
        } else if (message instanceof LockMessage.NotGranted m) {
            out.varint(m.request()).u8(REFUSALS.indexOf(m.cause()));
            parties(m.holders(), out);
        } else if (message instanceof LockMessage.Place m) {
            out.varint(m.request()).number(m.ahead());
            parties(m.holders(), out);
        } else if (message instanceof LockMessage.Recall m) {
            token(m.token(), out);
        } else if (message instanceof LockMessage.Revoke m) {
            token(m.token(), out);
            out.u8(ENDS.indexOf(m.cause())).text(m.reason());
        } else if (message instanceof LockMessage.Reasserted m) {
            token(m.token(), out);
            out.flag(m.wanted());
        } else if (message instanceof LockMessage.Query m) {
            out.varint(m.query());
            token(m.token(), out);
        } else if (message instanceof LockMessage.Page m) {
            out.varint(m.request()).number(m.names().size());
            m.names().forEach(out::text);
            out.flag(m.more());
        } else if (message instanceof LockMessage.Status m) {
            out.varint(m.request());
            parties(m.holders(), out);
            parties(m.waiters(), out);
            out.number(m.more()).flag(m.last());
        } else if (message instanceof LockMessage.Answer m) {
            out.varint(m.request()).flag(m.done());
        } else if (message instanceof LockMessage.Misdirected m) {
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

    public static void mode(LockMode mode, WireWriter out) {
        out.u8(MODES.indexOf(mode));
    }

    public static void owner(Owner owner, WireWriter out) {
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
        Key key = new Key(algorithm, in.text(MAX_NAME));
        return switch (type) {
            case ACQUIRE ->
                new LockMessage.Acquire(
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
            case WITHDRAW -> new LockMessage.Withdraw(key, in.varint());
            case RELEASE -> {
                long token = token(view, in);
                yield new LockMessage.Release(key, token, used(token - 1, in));
            }
            case ACCEPTED -> {
                long token = token(view, in);
                yield new LockMessage.Accepted(key, token, used(token, in));
            }
            case DENIED -> new LockMessage.Denied(key, token(view, in));
            case REVOKED -> new LockMessage.Revoked(key, token(view, in), in.number(), in.number());
            case REASSERT -> {
                long request = in.varint();
                long token = token(view, in);
                yield new LockMessage.Reassert(
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
                new LockMessage.Use(
                        key,
                        in.varint(),
                        token(view, in),
                        in.number(),
                        in.number(),
                        owner(in),
                        parties(in),
                        integer(in),
                        in.flag());
            case BREAK -> new LockMessage.Break(key, in.varint(), token(view, in), in.text(MAX_TEXT));
            case SHOW -> new LockMessage.Show(key, in.varint(), in.number());
            case LIST -> new LockMessage.ListNames(key, in.varint(), in.text(MAX_NAME), in.text(MAX_NAME), integer(in));
            default -> readOfMember(type, view, key, in);
        };
    }

    private Message readOfMember(int type, long view, Key key, WireReader in) throws WireException {
        return switch (type) {
            case GRANTED -> {
                long request = in.varint();
                long token = token(view, in);
                yield new LockMessage.Granted(key, request, token, used(token, in), in.flag());
            }
            case NOT_GRANTED -> new LockMessage.NotGranted(key, in.varint(), pick(REFUSALS, in), parties(in));
            case PLACE -> new LockMessage.Place(key, in.varint(), integer(in), parties(in));
            case RECALL -> new LockMessage.Recall(key, token(view, in));
            case REVOKE -> new LockMessage.Revoke(key, token(view, in), pick(ENDS, in), in.text(MAX_TEXT));
            case REASSERTED -> new LockMessage.Reasserted(key, token(view, in), in.flag());
            case QUERY -> new LockMessage.Query(key, in.varint(), token(view, in));
            case PAGE -> {
                long request = in.varint();
                int count = in.count(MAX_PAGE, 1);
                List<String> names = new ArrayList<>(count);
                for (int i = 0; i < count; i++) {
                    names.add(in.text(MAX_NAME));
                }
                yield new LockMessage.Page(key, request, List.copyOf(names), in.flag());
            }
            case STATUS -> new LockMessage.Status(key, in.varint(), parties(in), parties(in), integer(in), in.flag());
            case ANSWER -> new LockMessage.Answer(key, in.varint(), in.flag());
            case MISDIRECTED -> new LockMessage.Misdirected(key, in.varint());
            default -> throw WireReader.unknown(algorithm, type);
        };
    }

    private static long token(long view, WireReader in) throws WireException {
        return Tokens.of(view, in.number(Tokens.MAX_COUNTER));
    }

    private static long used(long token, WireReader in) throws WireException {
        return token + in.number(Tokens.MAX_COUNTER - Tokens.counter(token));
    }

    public static long ttl(WireReader in) throws WireException {
        long ttl = in.number();
        if (ttl == 0) {
            throw new WireException("a ttl of 0");
        }
        return ttl;
    }

    public static int integer(WireReader in) throws WireException {
        return (int) in.number(Integer.MAX_VALUE);
    }

    public static LockMode mode(WireReader in) throws WireException {
        return pick(MODES, in);
    }

    private static <E> E pick(List<E> of, WireReader in) throws WireException {
        int index = in.u8();
        if (index >= of.size()) {
            throw new WireException("the choice " + index + " of " + of.size());
        }
        return of.get(index);
    }

    public static Owner owner(WireReader in) throws WireException {
        return new Owner(in.text(MAX_TEXT), in.texts());
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
