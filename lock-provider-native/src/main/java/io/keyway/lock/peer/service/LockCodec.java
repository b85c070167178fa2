// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.service.LockMessage.Accepted;
import io.keyway.lock.peer.service.LockMessage.Acquire;
import io.keyway.lock.peer.service.LockMessage.Answer;
import io.keyway.lock.peer.service.LockMessage.Blocked;
import io.keyway.lock.peer.service.LockMessage.Break;
import io.keyway.lock.peer.service.LockMessage.ChangeMembers;
import io.keyway.lock.peer.service.LockMessage.Changed;
import io.keyway.lock.peer.service.LockMessage.ClusterState;
import io.keyway.lock.peer.service.LockMessage.Denied;
import io.keyway.lock.peer.service.LockMessage.Follow;
import io.keyway.lock.peer.service.LockMessage.Granted;
import io.keyway.lock.peer.service.LockMessage.ListNames;
import io.keyway.lock.peer.service.LockMessage.Members;
import io.keyway.lock.peer.service.LockMessage.Misdirected;
import io.keyway.lock.peer.service.LockMessage.NotGranted;
import io.keyway.lock.peer.service.LockMessage.Page;
import io.keyway.lock.peer.service.LockMessage.Place;
import io.keyway.lock.peer.service.LockMessage.Query;
import io.keyway.lock.peer.service.LockMessage.Raise;
import io.keyway.lock.peer.service.LockMessage.Reassert;
import io.keyway.lock.peer.service.LockMessage.Reasserted;
import io.keyway.lock.peer.service.LockMessage.Recall;
import io.keyway.lock.peer.service.LockMessage.Release;
import io.keyway.lock.peer.service.LockMessage.Revoke;
import io.keyway.lock.peer.service.LockMessage.Revoked;
import io.keyway.lock.peer.service.LockMessage.Seek;
import io.keyway.lock.peer.service.LockMessage.Show;
import io.keyway.lock.peer.service.LockMessage.Sought;
import io.keyway.lock.peer.service.LockMessage.Status;
import io.keyway.lock.peer.service.LockMessage.Use;
import io.keyway.lock.peer.service.LockMessage.Watch;
import io.keyway.lock.peer.service.LockMessage.Withdraw;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The bodies of a lock service's messages, one row of a table for each. The view of a body is the epoch of its token,
 * or 0; on the wire a token is its counter, and the view gives the rest. The fields of a body follow in the order of
 * the message's record, the name first.
 */
public final class LockCodec implements BodyCodec {
    /** The longest time without readers that a writer can ask for, in nanoseconds. */
    private static final long MAX_QUIET = 86_400_000_000_000L;

    private static final long MAX_EPOCH = 0xFFFF_FFFFL;

    private static final List<LeaseLoss.Cause> ENDS =
            List.of(LeaseLoss.Cause.EXPIRED, LeaseLoss.Cause.BROKEN, LeaseLoss.Cause.DENIED);

    private static final List<RefusalCause> REFUSALS = List.of(RefusalCause.values());

    /** Writes the fields behind the name. */
    private interface Writer<M> {
        void write(M message, WireWriter out);
    }

    /** Reads what the writer wrote; {@code e} is the epoch of the token. */
    private interface Reader {
        LockMessage read(Key key, long e, WireReader in) throws WireException;
    }

    private static final class Row {
        final int type;
        final Class<?> message;
        final Writer<Object> writer;
        final Reader reader;

        Row(int type, Class<?> message, Writer<Object> writer, Reader reader) {
            this.type = type;
            this.message = message;
            this.writer = writer;
            this.reader = reader;
        }
    }

    private static <M extends LockMessage> Row row(int type, Class<M> of, Writer<M> writer, Reader reader) {
        return new Row(type, of, (message, out) -> writer.write(of.cast(message), out), reader);
    }

    /** In the order of their numbers. */
    private static final List<Row> ROWS = List.of(
            row(1, Acquire.class, LockCodec::acquire, (k, e, in) -> acquire(k, in)),
            row(2, Withdraw.class, (m, out) -> out.varint(m.request()), (k, e, in) -> new Withdraw(k, in.varint())),
            row(3, Release.class, (m, out) -> upTo(m.used(), m.token() - 1, token(m, out)), (k, e, in) -> {
                long token = token(e, in);
                return new Release(k, token, upTo(token - 1, in));
            }),
            row(4, Accepted.class, (m, out) -> upTo(m.used(), m.token(), token(m, out)), (k, e, in) -> {
                long token = token(e, in);
                return new Accepted(k, token, upTo(token, in));
            }),
            row(5, Denied.class, (m, out) -> token(m, out), (k, e, in) -> new Denied(k, token(e, in))),
            row(
                    6,
                    Revoked.class,
                    (m, out) -> token(m, out).number(m.ended()).number(m.used()),
                    (k, e, in) -> new Revoked(k, token(e, in), in.number(), in.number())),
            row(7, Reassert.class, LockCodec::reassert, LockCodec::reassert),
            row(8, Use.class, LockCodec::use, (k, e, in) -> use(k, in)),
            row(
                    9,
                    Granted.class,
                    (m, out) -> upTo(m.hi(), m.token(), token(m, out.varint(m.request())))
                            .flag(m.wanted())
                            .number(m.out()),
                    LockCodec::granted),
            row(
                    10,
                    NotGranted.class,
                    (m, out) -> LockFields.participants(
                            m.holders(), LockFields.choice(REFUSALS, m.cause(), out.varint(m.request()))),
                    (k, e, in) -> new NotGranted(
                            k, in.varint(), LockFields.choice(REFUSALS, in), LockFields.participants(in))),
            row(
                    11,
                    Place.class,
                    (m, out) -> LockFields.participants(
                            m.holders(), out.varint(m.request()).number(m.ahead())),
                    (k, e, in) -> new Place(k, in.varint(), LockFields.integer(in), LockFields.participants(in))),
            row(
                    12,
                    Recall.class,
                    (m, out) -> token(m, out).flag(m.asks()),
                    (k, e, in) -> new Recall(k, token(e, in), in.flag())),
            row(
                    13,
                    Revoke.class,
                    (m, out) ->
                            LockFields.choice(ENDS, m.cause(), token(m, out)).text(m.reason()),
                    (k, e, in) ->
                            new Revoke(k, token(e, in), LockFields.choice(ENDS, in), in.text(LockFields.MAX_TEXT))),
            row(
                    14,
                    Reasserted.class,
                    (m, out) -> token(m, out).flag(m.wanted()),
                    (k, e, in) -> new Reasserted(k, token(e, in), in.flag())),
            row(15, Query.class, (m, out) -> out.varint(m.query()), (k, e, in) -> new Query(k, in.varint())),
            row(
                    16,
                    ListNames.class,
                    (m, out) -> out.varint(m.request())
                            .text(m.prefix())
                            .text(m.after())
                            .number(m.max()),
                    (k, e, in) -> new ListNames(
                            k,
                            in.varint(),
                            in.text(LockFields.MAX_NAME),
                            in.text(LockFields.MAX_NAME),
                            LockFields.integer(in))),
            row(
                    17,
                    Page.class,
                    (m, out) ->
                            LockFields.names(m.names(), out.varint(m.request())).flag(m.more()),
                    (k, e, in) -> new Page(k, in.varint(), LockFields.names(in), in.flag())),
            row(
                    18,
                    Show.class,
                    (m, out) -> out.varint(m.request()).number(m.limit()),
                    (k, e, in) -> new Show(k, in.varint(), in.number())),
            row(19, Status.class, LockFields::status, (k, e, in) -> LockFields.status(k, in)),
            row(
                    20,
                    Break.class,
                    (m, out) -> token(m, out.varint(m.request())).text(m.reason()),
                    (k, e, in) -> new Break(k, in.varint(), token(e, in), in.text(LockFields.MAX_TEXT))),
            row(
                    21,
                    Answer.class,
                    (m, out) -> out.varint(m.request()).flag(m.done()),
                    (k, e, in) -> new Answer(k, in.varint(), in.flag())),
            row(
                    22,
                    Misdirected.class,
                    (m, out) -> out.varint(m.request()),
                    (k, e, in) -> new Misdirected(k, in.varint())),
            row(
                    23,
                    Blocked.class,
                    (m, out) -> out.varint(m.request()).flag(m.last()).text(m.why()),
                    (k, e, in) -> new Blocked(k, in.varint(), in.flag(), in.text(LockFields.MAX_TEXT))),
            row(
                    24,
                    Seek.class,
                    (m, out) -> ProbeCodec.write(m.probe(), out.varint(m.request())),
                    (k, e, in) -> new Seek(k, in.varint(), ProbeCodec.read(in))),
            row(
                    25,
                    Sought.class,
                    (m, out) ->
                            ProbeCodec.write(m.probe(), out.varint(m.grant()).varint(m.ahead())),
                    (k, e, in) -> new Sought(k, in.varint(), in.varint(), ProbeCodec.read(in))),
            row(
                    26,
                    Watch.class,
                    (m, out) -> out.varint(m.request()).varint(m.known()).number(m.limit()),
                    (k, e, in) -> new Watch(k, in.varint(), in.varint(), in.number())),
            row(
                    27,
                    Changed.class,
                    (m, out) -> out.varint(m.request()).varint(m.version()),
                    (k, e, in) -> new Changed(k, in.varint(), in.varint())),
            row(28, Follow.class, (m, out) -> {}, (k, e, in) -> new Follow(k)),
            row(
                    29,
                    ClusterState.class,
                    (m, out) -> LockFields.names(m.silent(), out.flag(m.up()).flag(m.ready())),
                    (k, e, in) -> new ClusterState(k, in.flag(), in.flag(), LockFields.names(in))),
            row(
                    30,
                    ChangeMembers.class,
                    (m, out) -> out.varint(m.request()).text(m.member()).flag(m.add()),
                    (k, e, in) -> new ChangeMembers(k, in.varint(), in.text(LockFields.MAX_NAME), in.flag())),
            row(
                    31,
                    Members.class,
                    (m, out) -> LockFields.names(m.members(), out.varint(m.request()))
                            .flag(m.refused())
                            .text(m.why()),
                    (k, e, in) ->
                            new Members(k, in.varint(), LockFields.names(in), in.flag(), in.text(LockFields.MAX_TEXT))),
            row(
                    32,
                    Raise.class,
                    (m, out) -> token(m, out.varint(m.request())),
                    (k, e, in) -> new Raise(k, in.varint(), token(e, in))));

    private static final Map<Class<?>, Row> BY_MESSAGE = new LinkedHashMap<>();

    static {
        ROWS.forEach(row -> BY_MESSAGE.put(row.message, row));
    }

    private final int algorithm;

    /** @param algorithm whose messages these are */
    public LockCodec(int algorithm) {
        this.algorithm = algorithm;
    }

    @Override
    public int algorithm() {
        return algorithm;
    }

    private static Row row(Message message) {
        Row row = BY_MESSAGE.get(message.getClass());
        if (row == null) {
            throw new IllegalArgumentException("not a message of a lock service: " + message);
        }
        return row;
    }

    @Override
    public int type(Message message) {
        return row(message).type;
    }

    @Override
    public long view(Message message) {
        return message instanceof LockMessage said ? Tokens.epoch(said.token()) : 0;
    }

    @Override
    public void write(Message message, WireWriter out) {
        row(message).writer.write(message, out.text(message.key().id()));
    }

    @Override
    public Message read(int type, long view, WireReader in) throws WireException {
        if (view < 0 || view > MAX_EPOCH) {
            throw new WireException("an epoch of more than 32 bits");
        }
        Key key = new Key(algorithm, in.text(LockFields.MAX_NAME));
        if (type < 1 || type > ROWS.size()) {
            throw WireReader.unknown(algorithm, type);
        }
        return ROWS.get(type - 1).reader.read(key, view, in);
    }

    // Messages of many fields

    private static void acquire(Acquire m, WireWriter out) {
        LockFields.mode(m.mode(), out.varint(m.request()));
        out.number(m.permits()).number(m.capacity()).number(m.perResource()).number(m.ttl());
        out.flag(m.noWait()).flag(m.wantPlace()).flag(m.cache());
        out.number(m.waited()).number(m.patience()).number(m.atLeast()).number(m.converts());
        LockFields.owner(m.owner(), out.number(m.quiet() - Acquire.IN_THE_QUEUE));
    }

    private static Acquire acquire(Key key, WireReader in) throws WireException {
        return new Acquire(
                key,
                in.varint(),
                LockFields.mode(in),
                LockFields.integer(in),
                LockFields.integer(in),
                LockFields.integer(in),
                LockFields.ttl(in),
                in.flag(),
                in.flag(),
                in.flag(),
                in.number(),
                in.number(),
                in.number(),
                in.number(),
                in.number(MAX_QUIET - Acquire.IN_THE_QUEUE) + Acquire.IN_THE_QUEUE,
                LockFields.owner(in));
    }

    private static Granted granted(Key key, long epoch, WireReader in) throws WireException {
        long request = in.varint();
        long token = token(epoch, in);
        return new Granted(key, request, token, upTo(token, in), in.flag(), LockFields.integer(in));
    }

    private static void reassert(Reassert m, WireWriter out) {
        upTo(m.hi(), m.token(), upTo(m.used(), m.token(), token(m, out.varint(m.request()))));
        LockFields.owner(
                m.owner(), LockFields.mode(m.mode(), out).number(m.permits()).number(m.ttl()));
    }

    private static Reassert reassert(Key key, long epoch, WireReader in) throws WireException {
        long request = in.varint();
        long token = token(epoch, in);
        long used = upTo(token, in);
        return new Reassert(
                key,
                request,
                token,
                used,
                upTo(token, in),
                LockFields.mode(in),
                LockFields.integer(in),
                LockFields.ttl(in),
                LockFields.owner(in));
    }

    private static void use(Use m, WireWriter out) {
        LockFields.participants(m.holders(), out.varint(m.query()));
        LockFields.participants(m.waiters(), out).number(m.more()).flag(m.last());
    }

    private static Use use(Key key, WireReader in) throws WireException {
        return new Use(
                key,
                in.varint(),
                LockFields.participants(in),
                LockFields.participants(in),
                LockFields.integer(in),
                in.flag());
    }

    // Fields

    private static WireWriter token(LockMessage message, WireWriter out) {
        return out.number(Tokens.counter(message.token()));
    }

    private static long token(long epoch, WireReader in) throws WireException {
        return Tokens.of(epoch, in.number(Tokens.MAX_COUNTER));
    }

    /** A token of the same grant, as its distance from one that is no higher. */
    private static WireWriter upTo(long token, long from, WireWriter out) {
        return out.number(Math.max(0, token - from));
    }

    private static long upTo(long from, WireReader in) throws WireException {
        return from + in.number(Tokens.MAX_COUNTER - Tokens.counter(from));
    }
}
