// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.counter;

import io.keyway.lock.peer.counter.CounterMessage.Add;
import io.keyway.lock.peer.counter.CounterMessage.Counts;
import io.keyway.lock.peer.counter.CounterMessage.Have;
import io.keyway.lock.peer.counter.CounterMessage.Stamp;
import io.keyway.lock.peer.counter.CounterMessage.Tally;
import io.keyway.lock.peer.counter.CounterMessage.Tell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.wire.BodyCodec;
import io.keyway.lock.peer.wire.RecordCodec;
import io.keyway.lock.peer.wire.WireException;
import io.keyway.lock.peer.wire.WireReader;
import io.keyway.lock.peer.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;

/** The counter's words as bytes. */
final class CounterCodec implements BodyCodec {
    private static final int MAX_NAME = 100;
    private static final int ADD = 1;
    private static final int COUNTS = 2;
    private static final int TELL = 3;
    private static final int HAVE = 4;

    @Override
    public int algorithm() {
        return CounterAlgorithm.ID;
    }

    @Override
    public int type(Message message) {
        return message instanceof Add
                ? ADD
                : message instanceof Counts ? COUNTS : message instanceof Tell ? TELL : HAVE;
    }

    @Override
    public void write(Message message, WireWriter out) {
        out.text(message.key().id());
        if (message instanceof Add add) {
            out.number(add.increment());
        } else if (message instanceof Counts counts) {
            out.number(counts.increment()).number(counts.value());
        } else if (message instanceof Tell tell) {
            stamp(tell.stamp(), out);
            numbers(tell.increments(), out);
        } else if (message instanceof Have have) {
            stamp(have.stamp(), out);
            numbers(have.increments(), out);
        }
    }

    @Override
    public Message read(int type, long view, WireReader in) throws WireException {
        Key key = key(in);
        return switch (type) {
            case ADD -> new Add(key, in.number());
            case COUNTS -> new Counts(key, in.number(), in.number());
            case TELL -> new Tell(key, stamp(in), numbers(in));
            case HAVE -> new Have(key, stamp(in), numbers(in));
            default -> throw WireReader.unknown(CounterAlgorithm.ID, type);
        };
    }

    private static Key key(WireReader in) throws WireException {
        return CounterAlgorithm.key(in.text(MAX_NAME));
    }

    private static void stamp(Stamp stamp, WireWriter out) {
        out.number(stamp.life()).number(stamp.period()).number(stamp.number());
    }

    private static Stamp stamp(WireReader in) throws WireException {
        return new Stamp(in.number(), in.number(), in.number());
    }

    private static void numbers(List<Long> numbers, WireWriter out) {
        out.number(numbers.size());
        numbers.forEach(out::number);
    }

    private static List<Long> numbers(WireReader in) throws WireException {
        List<Long> numbers = new ArrayList<>();
        for (int left = in.count(Integer.MAX_VALUE, 1); left > 0; left--) {
            numbers.add(in.number());
        }
        return List.copyOf(numbers);
    }

    /** What members force. */
    static final class Records implements RecordCodec {
        @Override
        public Key key(DurableRecord record) {
            return ((Tally) record).key();
        }

        @Override
        public void write(DurableRecord record, WireWriter out) {
            Tally tally = (Tally) record;
            out.text(tally.key().id());
            numbers(tally.increments(), out);
        }

        @Override
        public DurableRecord read(WireReader in) throws WireException {
            return new Tally(CounterCodec.key(in), numbers(in));
        }
    }
}
