// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import org.apache.jute.InputArchive;
import org.apache.jute.OutputArchive;
import org.apache.jute.Record;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.proto.ReplyHeader;

/**
 * The answer to a call of {@link Handle}, for the thread that waits for it. It may overtake events of the session that came
 * before it: those are told on a thread of their own ({@link Handle#isWatched}).
 */
final class Reply<T> {

    /** What an answer holds, once it is there. */
    interface Value<T> {
        T get() throws KeeperException;
    }

    private final String path;
    private final ReplyHeader header;
    private final Content content;
    private final Value<T> value;
    private final LongConsumer confirmed;
    private final long sentAt = System.nanoTime();
    private final Object packet;

    /** Sends a request; see {@link Handle}. */
    interface Sending {
        /** Returns what is notified when the answer is there. */
        Object send(ReplyHeader header, Record content);
    }

    /**
     * Sends the request.
     *
     * @param content what takes the answer
     * @param value what the answer then says
     * @param confirmed told when a successful request was sent
     */
    Reply(String path, Sending request, Record content, Value<T> value, LongConsumer confirmed) {
        this.path = path;
        this.header = new ReplyHeader();
        this.content = new Content(content, header);
        this.value = value;
        this.confirmed = confirmed;
        this.packet = request.send(header, this.content);
    }

    /**
     * Waits for the answer. What was sent stays on its way if this fails, and can be waited for again.
     *
     * @throws KeeperException what the ensemble said, or that the connection was lost
     */
    T await(Limit limit) throws KeeperException, TimeoutException, InterruptedException {
        synchronized (packet) {
            while (!content.isThere && header.getErr() == 0) {
                long nanos = limit.end().nanos();
                if (nanos <= 0) {
                    throw Limit.late();
                }
                TimeUnit.NANOSECONDS.timedWait(packet, nanos);
            }
        }
        if (header.getErr() != 0) {
            throw KeeperException.create(KeeperException.Code.get(header.getErr()), path);
        }
        T answer = value.get();
        confirmed.accept(sentAt);
        return answer;
    }

    /** What the handle fills in when the answer comes without an error; nothing else tells that it is there. */
    private static final class Content implements Record {
        private final Record record;
        private final ReplyHeader header;
        volatile boolean isThere;

        Content(Record record, ReplyHeader header) {
            this.record = record;
            this.header = header;
        }

        @Override
        public void deserialize(InputArchive archive, String tag) throws IOException {
            try {
                record.deserialize(archive, tag);
                isThere = true;
            } catch (IOException e) {
                // The handle gives the connection up, and does not know of this call any more.
                header.setErr(KeeperException.Code.CONNECTIONLOSS.intValue());
                throw e;
            }
        }

        @Override
        public void serialize(OutputArchive archive, String tag) throws IOException {
            record.serialize(archive, tag);
        }
    }
}
