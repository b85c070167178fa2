// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.session.AllSaid;
import io.keyway.lock.peer.session.Bye;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.Mac;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.Nonce;
import io.keyway.lock.peer.session.RefuseCode;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.session.SessionFrame.AskTrace;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import io.keyway.lock.peer.session.SessionFrame.Role;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.TracePage;
import io.keyway.lock.peer.session.SessionFrame.Wait;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import io.keyway.lock.peer.session.SessionSettings;
import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Frames as bytes: {@code u32 length | u8 wire | u8 kind | fields}, where the length counts what follows it. Not
 * thread-safe: one for each event loop. The layout is in docs/protocol.md, and golden bytes hold it.
 */
public final class FrameCodec {
    /** The most bytes of a frame, its length included. */
    public static final int MAX_FRAME = 64 * 1024;
    /** The most bytes of a frame before the session is open. */
    public static final int MAX_HANDSHAKE = 1536;

    static final int HELLO = 1;
    static final int CHALLENGE = 2;
    static final int PROOF = 3;
    static final int WELCOME = 4;
    static final int REFUSE = 5;
    static final int DATA = 6;
    static final int PLAIN_DATA = 7;
    static final int ASK_TRACE = 8;
    static final int TRACE_PAGE = 9;
    private static final int WAIT = 10;

    private static final int LEAST_BODY = 3;
    /** The header of a data frame is never longer. */
    private static final int HEAD_ROOM = 64;

    private static final int BYE = 1;
    private static final int ALL_SAID = 2;

    private final @Nullable BodyCodec[] byAlgorithm = new @Nullable BodyCodec[256];
    private final WireWriter bodies = new WireWriter(MAX_FRAME);
    private final WireWriter header = new WireWriter(HEAD_ROOM);
    /** Of the array of the bodies, what leaves. */
    private final ByteBuffer encoded = ByteBuffer.wrap(bodies.array());

    private final WireReader in = WireReader.ofManyFrames();

    /** With the codecs of distinct algorithms; the session's own messages need none. */
    public FrameCodec(BodyCodec... codecs) {
        for (BodyCodec codec : codecs) {
            int algorithm = codec.algorithm();
            if (algorithm <= Bye.ALGORITHM || algorithm > 255 || byAlgorithm[algorithm] != null) {
                throw new IllegalArgumentException("algorithm " + algorithm + " is out of range or has two codecs");
            }
            byAlgorithm[algorithm] = codec;
        }
    }

    /**
     * Writes a frame; one that is too long as several, of which only the last is stamped. A buffer is valid until the
     * consumer returns.
     *
     * @throws IllegalArgumentException if a handshake frame or one message is longer than the limit
     */
    public void encode(SessionFrame frame, Consumer<ByteBuffer> out) {
        if (frame instanceof Data data) {
            encode(data, out);
            return;
        }
        bodies.restart(
                Integer.BYTES, frame instanceof Welcome || frame instanceof TracePage ? MAX_FRAME : MAX_HANDSHAKE);
        try {
            handshake(frame, bodies);
        } catch (BufferOverflowException e) {
            throw new IllegalArgumentException("a handshake frame of more than " + MAX_HANDSHAKE + " bytes: " + frame);
        }
        int end = bodies.position();
        bodies.put(0, end - Integer.BYTES);
        out.accept(encoded.limit(end).position(0));
    }

    private static void handshake(SessionFrame frame, WireWriter out) {
        if (frame instanceof Hello hello) {
            out.u8(SessionSettings.WIRE).u8(HELLO).u8(hello.wireLow()).u8(hello.wireHigh());
            out.text(hello.cluster()).u64(hello.settings()).u64(hello.members());
            out.u8(hello.algorithm())
                    .u8(hello.role().code())
                    .text(hello.from())
                    .text(hello.node())
                    .u8(hello.shard());
            write(hello.client(), out);
            out.u64(hello.nonce().high()).u64(hello.nonce().low()).number(hello.attempt());
            out.number(hello.life()).number(hello.guard()).number(hello.tokenFloor());
            out.number(hello.seen().size());
            for (Seen seen : hello.seen()) {
                out.text(seen.node()).number(seen.epoch());
                write(seen.incarnation(), out);
            }
            Resume resume = hello.resume();
            out.flag(resume != null);
            if (resume != null) {
                write(resume.member(), out);
                out.number(resume.session()).number(resume.received());
            }
        } else if (frame instanceof Challenge challenge) {
            out.u8(SessionSettings.WIRE).u8(CHALLENGE).u8(challenge.wire());
            write(challenge.member(), out);
            out.u64(challenge.nonce().high()).u64(challenge.nonce().low());
            out.bytes(challenge.mac().bytes());
        } else if (frame instanceof Proof proof) {
            out.u8(SessionSettings.WIRE).u8(PROOF).bytes(proof.mac().bytes());
        } else if (frame instanceof Welcome welcome) {
            out.u8(SessionSettings.WIRE).u8(WELCOME).number(welcome.session()).number(welcome.received());
            out.text(welcome.node()).number(welcome.epoch()).number(welcome.leastEpoch());
            out.number(welcome.quarantine());
            out.number(welcome.members().size());
            welcome.members().forEach(out::text);
            out.u8(welcome.shards()).flag(welcome.fresh()).number(welcome.longestTtl());
        } else if (frame instanceof Refuse refuse) {
            out.u8(SessionSettings.WIRE).u8(REFUSE).u8(refuse.code().code());
            out.text(refuse.field()).text(refuse.here()).text(refuse.there());
        } else if (frame instanceof Wait wait) {
            out.u8(SessionSettings.WIRE).u8(WAIT).number(wait.nanos());
        } else if (frame instanceof AskTrace ask) {
            out.u8(SessionSettings.WIRE)
                    .u8(ASK_TRACE)
                    .number(ask.request())
                    .u8(ask.what())
                    .number(ask.from());
        } else if (frame instanceof TracePage page) {
            out.u8(SessionSettings.WIRE).u8(TRACE_PAGE).number(page.request()).flag(page.on());
            out.number(page.next()).flag(page.more()).text(page.text());
        }
    }

    private static void write(Incarnation incarnation, WireWriter out) {
        out.u64(incarnation.high()).u64(incarnation.low());
    }

    private void encode(Data data, Consumer<ByteBuffer> out) {
        List<Message> messages = data.messages();
        int done = 0;
        do {
            bodies.restart(HEAD_ROOM, MAX_FRAME);
            int from = done;
            int end = HEAD_ROOM;
            try {
                while (done < messages.size() && done - from < SessionFrame.MAX_MESSAGES) {
                    body(messages.get(done));
                    done++;
                    end = bodies.position();
                }
            } catch (BufferOverflowException e) {
                if (done == from) {
                    throw new IllegalArgumentException("a message of more than " + MAX_FRAME + " bytes for "
                            + messages.get(done).key());
                }
            }
            int start = head(data, from, done - from, done == messages.size(), end);
            out.accept(encoded.limit(end).position(start));
        } while (done < messages.size());
    }

    private void body(Message message) {
        int algorithm = message.key().algorithm();
        if (algorithm == Bye.ALGORITHM) {
            bodies.u8(Bye.ALGORITHM).u8(message instanceof Bye ? BYE : ALL_SAID).varint(0);
            return;
        }
        BodyCodec codec = byAlgorithm[algorithm & 0xFF];
        if (codec == null || codec.algorithm() != algorithm) {
            throw new IllegalArgumentException("no codec for " + message);
        }
        bodies.u8(algorithm).u8(codec.type(message)).varint(codec.view(message));
        codec.write(message, bodies);
    }

    /** Puts the header right before the bodies, which end there; returns where it begins. */
    private int head(Data data, int from, int count, boolean last, int end) {
        boolean stamped = data.stamped() && last;
        header.restart(Integer.BYTES, HEAD_ROOM);
        header.u8(SessionSettings.WIRE).u8(stamped ? DATA : PLAIN_DATA);
        header.number(data.session()).number(data.seq() + from).number(data.ack());
        if (stamped) {
            header.varint(data.stamp());
        }
        header.varint(data.clock()).number(count);
        int start = HEAD_ROOM - header.position();
        header.put(0, end - start - Integer.BYTES);
        System.arraycopy(header.array(), 0, bodies.array(), start, header.position());
        return start;
    }

    /** Reads what follows the length; the buffer's limit is the frame's end. */
    SessionFrame decode(ByteBuffer frame, boolean handshakeOnly) throws WireException {
        in.over(frame);
        int wire = in.u8();
        if (wire != SessionSettings.WIRE) {
            throw WireException.version(wire, SessionSettings.WIRE);
        }
        int kind = in.u8();
        boolean data = kind == DATA || kind == PLAIN_DATA;
        if ((data || kind == ASK_TRACE || kind == TRACE_PAGE) && handshakeOnly) {
            throw new WireException("data before the welcome");
        }
        try {
            SessionFrame read = data ? data(kind == DATA) : handshake(kind, in);
            in.end();
            return read;
        } catch (IllegalArgumentException e) {
            throw new WireException("a field breaks the rules of its type"); // said by the type's own constructor
        }
    }

    private Data data(boolean stamped) throws WireException {
        long session = in.number();
        long seq = in.number();
        long ack = in.number();
        long stamp = stamped ? in.varint() : 0;
        long clock = in.varint();
        int count = in.count(SessionFrame.MAX_MESSAGES, LEAST_BODY);
        return new Data(session, seq, ack, stamped, stamp, clock, messages(count));
    }

    private List<Message> messages(int count) throws WireException {
        if (count <= 1) {
            return count == 0 ? List.of() : List.of(body());
        }
        List<Message> messages = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            messages.add(body());
        }
        return messages;
    }

    private Message body() throws WireException {
        int algorithm = in.u8();
        BodyCodec codec = byAlgorithm[algorithm];
        if (codec == null && algorithm != Bye.ALGORITHM) {
            throw new WireException("algorithm " + algorithm + " is unknown");
        }
        int type = in.u8();
        long view = in.varint();
        if (codec != null) {
            return codec.read(type, view, in);
        } else if (type != BYE && type != ALL_SAID) {
            throw WireReader.unknown(algorithm, type);
        }
        return type == BYE ? new Bye() : new AllSaid();
    }

    private static SessionFrame handshake(int kind, WireReader in) throws WireException {
        return switch (kind) {
            case HELLO -> hello(in);
            case CHALLENGE -> new Challenge(in.u8(), incarnation(in), nonce(in), mac(in));
            case PROOF -> new Proof(mac(in));
            case WELCOME -> welcome(in);
            case REFUSE ->
                new Refuse(
                        refusal(in.u8()),
                        in.text(SessionSettings.MAX_TOLD),
                        in.text(SessionSettings.MAX_TOLD),
                        in.text(SessionSettings.MAX_TOLD));
            case WAIT -> new Wait(in.number());
            case ASK_TRACE -> new AskTrace(in.number(), in.u8(), in.number());
            case TRACE_PAGE ->
                new TracePage(in.number(), in.flag(), in.number(), in.flag(), in.text(TracePage.MAX_TEXT));
            default -> throw new WireException("frame kind " + kind + " is unknown");
        };
    }

    private static Welcome welcome(WireReader in) throws WireException {
        long session = in.number();
        long received = in.number();
        String node = in.text(SessionSettings.MAX_NODE);
        long epoch = in.number();
        long leastEpoch = in.number();
        long quarantine = in.number();
        List<String> members = new ArrayList<>();
        for (int left = in.count(Membership.MAX_MEMBERS, 1); left > 0; left--) {
            members.add(in.text(SessionSettings.MAX_NODE));
        }
        int shards = in.u8();
        boolean fresh = in.flag();
        long longestTtl = in.number();
        if (longestTtl > Membership.MAX_LONGEST_TTL) {
            throw new WireException("a lease of " + longestTtl + " ns");
        }
        return new Welcome(
                session,
                received,
                node,
                epoch,
                leastEpoch,
                quarantine,
                List.copyOf(members),
                shards,
                fresh,
                longestTtl);
    }

    private static Hello hello(WireReader in) throws WireException {
        int low = in.u8();
        int high = in.u8();
        String cluster = in.text(SessionSettings.MAX_CLUSTER);
        long settings = in.u64();
        long members = in.u64();
        int algorithm = in.u8();
        Role role = role(in.u8());
        String from = in.text(SessionSettings.MAX_NODE);
        String node = in.text(SessionSettings.MAX_NODE);
        int shard = in.u8();
        Incarnation client = incarnation(in);
        Nonce nonce = nonce(in);
        long attempt = in.number();
        long life = in.number();
        long guard = in.number();
        long tokenFloor = in.number();
        int count = in.count(MAX_HANDSHAKE, 18);
        List<Seen> seen = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            seen.add(new Seen(in.text(SessionSettings.MAX_NODE), in.number(), incarnation(in)));
        }
        Resume resume = in.flag() ? new Resume(incarnation(in), in.number(), in.number()) : null;
        return new Hello(
                low,
                high,
                cluster,
                settings,
                members,
                algorithm,
                role,
                from,
                node,
                shard,
                client,
                nonce,
                attempt,
                life,
                guard,
                tokenFloor,
                seen,
                resume);
    }

    private static Incarnation incarnation(WireReader in) throws WireException {
        return new Incarnation(in.u64(), in.u64());
    }

    private static Nonce nonce(WireReader in) throws WireException {
        return new Nonce(in.u64(), in.u64());
    }

    private static Mac mac(WireReader in) throws WireException {
        return new Mac(in.bytes(Mac.MAX_BYTES));
    }

    private static Role role(int code) throws WireException {
        for (Role role : Role.values()) {
            if (role.code() == code) {
                return role;
            }
        }
        throw new WireException("role " + code + " is unknown");
    }

    private static RefuseCode refusal(int code) throws WireException {
        for (RefuseCode refusal : RefuseCode.values()) {
            if (refusal.code() == code) {
                return refusal;
            }
        }
        throw new WireException("refusal " + code + " is unknown");
    }
}
