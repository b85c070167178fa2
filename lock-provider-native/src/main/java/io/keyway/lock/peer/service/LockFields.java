// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;

/** The fields that the messages of several algorithms have, as bytes. */
public final class LockFields {
    /** The most bytes of the address of a lock or semaphore: of its name, and the mark of a semaphore. */
    public static final int MAX_NAME = 513;

    /** The most bytes of a client's name or of a reason. */
    static final int MAX_TEXT = 1024;

    static final int MAX_PARTICIPANTS = 1024;

    /** The most names in one page of a directory. */
    public static final int MAX_PAGE = 256;

    /** In the order of their numbers on the wire. */
    private static final List<LockMode> MODES = List.of(
            LockMode.EXCLUSIVE,
            LockMode.SHARED,
            LockMode.PERMITS,
            LockMode.INTENT_SHARED,
            LockMode.INTENT_EXCLUSIVE,
            LockMode.TREE_SHARED,
            LockMode.TREE_SHARED_INTENT_EXCLUSIVE,
            LockMode.TREE_EXCLUSIVE);

    private LockFields() {}

    static <E> WireWriter choice(List<E> of, E value, WireWriter out) {
        return out.u8(of.indexOf(value));
    }

    static <E> E choice(List<E> of, WireReader in) throws WireException {
        int index = in.u8();
        if (index >= of.size()) {
            throw new WireException("the choice " + index + " of " + of.size());
        }
        return of.get(index);
    }

    /** Writes a mode as {@link #mode(WireReader)} reads it. */
    public static WireWriter mode(LockMode mode, WireWriter out) {
        return choice(MODES, mode, out);
    }

    public static LockMode mode(WireReader in) throws WireException {
        return choice(MODES, in);
    }

    /** Writes an owner as {@link #owner(WireReader)} reads it. */
    public static void owner(Owner owner, WireWriter out) {
        out.text(owner.client()).texts(owner.metadata());
    }

    public static Owner owner(WireReader in) throws WireException {
        return new Owner(in.text(MAX_TEXT), in.texts());
    }

    /** Nanoseconds, at least 1. */
    public static long ttl(WireReader in) throws WireException {
        long ttl = in.number();
        if (ttl == 0) {
            throw new WireException("a ttl of 0");
        }
        return ttl;
    }

    /** A number of at most 31 bits. */
    public static int integer(WireReader in) throws WireException {
        return (int) in.number(Integer.MAX_VALUE);
    }

    /** Writes participants. */
    public static WireWriter participants(List<Participant> participants, WireWriter out) {
        out.number(participants.size());
        for (Participant each : participants) {
            owner(each.owner(), out);
            mode(each.mode(), out).number(each.permits()).number(each.token());
            out.number(Math.max(0, each.nanos())).number(each.kept());
        }
        return out;
    }

    /** Reads participants. */
    public static List<Participant> participants(WireReader in) throws WireException {
        int count = in.count(MAX_PARTICIPANTS, 6);
        List<Participant> participants = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            participants.add(new Participant(owner(in), mode(in), integer(in), in.number(), in.number(), in.number()));
        }
        return List.copyOf(participants);
    }

    static WireWriter names(List<String> names, WireWriter out) {
        out.number(names.size());
        names.forEach(out::text);
        return out;
    }

    static List<String> names(WireReader in) throws WireException {
        int count = in.count(MAX_PAGE, 1);
        List<String> names = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            names.add(in.text(MAX_NAME));
        }
        return List.copyOf(names);
    }

    static void status(LockMessage.Status m, WireWriter out) {
        participants(m.holders(), out.varint(m.request()));
        participants(m.softWriters(), participants(m.waiters(), out));
        out.number(m.perResource()).number(m.out());
        out.number(m.more()).flag(m.last());
    }

    static LockMessage.Status status(Key key, WireReader in) throws WireException {
        return new LockMessage.Status(
                key,
                in.varint(),
                participants(in),
                participants(in),
                participants(in),
                integer(in),
                integer(in),
                integer(in),
                in.flag());
    }
}
