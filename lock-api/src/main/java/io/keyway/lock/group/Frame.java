// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * One message between two processes of a group: its length in four bytes, its kind in one, a number in eight, and its
 * content.
 *
 * @param number of a call or a question and its answer; the token of the leader in WELCOME, STATE and HANDED; else 0
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
record Frame(Kind kind, long number, byte[] content) {
    /** What it says. */
    enum Kind {
        /** Whoever listens: prove yourself. The content is a nonce. */
        CHALLENGE(1),
        /** Whoever dialled: who it is, its own nonce, and the proof. */
        HELLO(2),
        /** The leader: you follow me. The content is its proof. */
        WELCOME(3),
        /** Whoever listens: not me. The content says why. */
        REFUSED(4),
        /** The leader: this is the state. */
        STATE(5),
        CALL(6),
        /** The leader: the answer to a call. */
        ANSWER(7),
        /** The leader: the call could not be answered. The content says why. */
        FAILED(8),
        /** Whoever led: this call was not carried out. */
        NOT_LEADING(9),
        CAST(10),
        /** The leader: what do you say? */
        ASK(11),
        /** A candidate: the answer. */
        REPLY(12),
        /** The leader: to all. */
        TELL(13),
        /** The leader: I give up, and this is the state. */
        HANDED(14),
        /** Whoever follows: it has that state. */
        TAKEN(15),
        /** The sender is there; each end ignores it. */
        BEAT(16);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        private static Kind of(int code) throws IOException {
            for (Kind kind : KINDS) {
                if (kind.code == code) {
                    return kind;
                }
            }
            throw new IOException("a message of the unknown kind " + code + " came");
        }
    }

    private static final Kind[] KINDS = Kind.values();
    private static final int HEADER = 1 + Long.BYTES;

    /** About how many bytes of memory it takes. */
    int size() {
        return content.length + 64;
    }

    static Frame of(Kind kind, long number) {
        return new Frame(kind, number, new byte[0]);
    }

    void write(DataOutputStream out) throws IOException {
        out.writeInt(HEADER + content.length);
        out.writeByte(kind.code);
        out.writeLong(number);
        out.write(content);
    }

    /** Reads the next one; its content has no more than so many bytes. */
    static Frame read(DataInputStream in, int longest) throws IOException {
        int length = in.readInt() - HEADER;
        if (length < 0 || length > longest) {
            throw new IOException("a message of " + length + " bytes came, and " + longest + " are allowed");
        }
        Kind kind = Kind.of(in.readUnsignedByte());
        long number = in.readLong();
        byte[] content = new byte[length];
        in.readFully(content);
        return new Frame(kind, number, content);
    }
}
