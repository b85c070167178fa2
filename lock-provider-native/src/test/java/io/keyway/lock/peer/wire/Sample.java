// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.wire;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import java.util.Map;

/** A message with a field of every kind. */
record Sample(Key key, long view, long any, long number, boolean flag, Map<String, String> metadata)
        implements Message {
    static final int ALGORITHM = 9;

    static final class Codec implements BodyCodec {
        @Override
        public int algorithm() {
            return ALGORITHM;
        }

        @Override
        public int type(Message message) {
            return 1;
        }

        @Override
        public long view(Message message) {
            return ((Sample) message).view();
        }

        @Override
        public void write(Message message, WireWriter out) {
            Sample sample = (Sample) message;
            out.text(sample.key().id())
                    .varint(sample.any())
                    .number(sample.number())
                    .flag(sample.flag());
            out.texts(sample.metadata());
        }

        @Override
        public Message read(int type, long view, WireReader in) throws WireException {
            if (type != 1) {
                throw WireReader.unknown(ALGORITHM, type);
            }
            Key key = new Key(ALGORITHM, in.text(512));
            return new Sample(key, view, in.varint(), in.number(), in.flag(), in.texts());
        }
    }
}
