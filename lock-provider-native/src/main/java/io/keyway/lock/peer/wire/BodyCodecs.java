// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.session.Bye;
import org.jspecify.annotations.Nullable;

/** Finds the codec of a body by its algorithm. Immutable. */
public final class BodyCodecs {
    private final @Nullable BodyCodec[] byAlgorithm = new @Nullable BodyCodec[256];

    /** Codecs of distinct algorithms; the session's own messages need none. */
    public BodyCodecs(BodyCodec... codecs) {
        byAlgorithm[Bye.ALGORITHM] = new SessionBodies();
        for (BodyCodec codec : codecs) {
            int algorithm = codec.algorithm();
            if (algorithm < 0 || algorithm > 255 || byAlgorithm[algorithm] != null) {
                throw new IllegalArgumentException("algorithm " + algorithm + " is out of range or has two codecs");
            }
            byAlgorithm[algorithm] = codec;
        }
    }

    void write(Message message, WireWriter out) {
        BodyCodec codec = byAlgorithm[message.key().algorithm() & 0xFF];
        if (codec == null || codec.algorithm() != message.key().algorithm()) {
            throw new IllegalArgumentException("no codec for " + message);
        }
        out.u8(codec.algorithm()).u8(codec.type(message)).varint(codec.view(message));
        codec.write(message, out);
    }

    Message read(WireReader in) throws WireException {
        int algorithm = in.u8();
        BodyCodec codec = byAlgorithm[algorithm];
        if (codec == null) {
            throw new WireException("algorithm " + algorithm + " is unknown");
        }
        int type = in.u8();
        return codec.read(type, in.varint(), in);
    }

    private static final class SessionBodies implements BodyCodec {
        private static final int BYE = 1;

        @Override
        public int algorithm() {
            return Bye.ALGORITHM;
        }

        @Override
        public int type(Message message) {
            return BYE;
        }

        @Override
        public void write(Message message, WireWriter out) {}

        @Override
        public Message read(int type, long view, WireReader in) throws WireException {
            if (type != BYE) {
                throw WireReader.unknown(Bye.ALGORITHM, type);
            }
            return new Bye();
        }
    }
}
