// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.util.SafeEncoder;

/**
 * The connection to one master of a cluster on which a client listens to sharded channels. One thread reads. Whoever
 * wants a channel more or less writes, and never waits: no more than {@value #WINDOW} bytes, or one command, are sent
 * before the server has answered all that went before, and so much fits into the buffers on the way. What has to wait
 * for that is sent by the thread that reads.
 */
final class ShardListener {

    /** Who is told what is heard, by the thread that reads. */
    interface Listener {

        /** From now on the messages of that channel arrive. */
        void subscribed(ShardListener at, String channel);

        /** The server has that channel's slot no more. */
        void moved(ShardListener at, String channel);

        void message(String text);
    }

    private static final Logger LOG = LoggerFactory.getLogger(ShardListener.class);
    private static final int WINDOW = InterruptibleSocket.AT_ONCE / 2;
    /** Of a command beside its channel, at most. */
    private static final int FRAME = 64;

    private record Order(Command command, String channel) {
        int bytes() {
            return FRAME + ScriptCodec.bytes(channel).length;
        }
    }

    private final RedisNode node;
    private final Listener listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Order> unsent = new ArrayDeque<>();
    private final Deque<Order> unanswered = new ArrayDeque<>();
    private int written;
    private @Nullable DuplexConnection connection;

    ShardListener(RedisNode node, Listener listener) {
        this.node = node;
        this.listener = listener;
    }

    RedisNode node() {
        return node;
    }

    /** Whether it is the connection to that server; one whose address was given up and came back is another. */
    @SuppressWarnings("ReferenceEquality")
    boolean isAt(RedisNode other) {
        return node == other;
    }

    void subscribe(String channel) {
        order(new Order(Command.SSUBSCRIBE, channel));
    }

    void unsubscribe(String channel) {
        order(new Order(Command.SUNSUBSCRIBE, channel));
    }

    /** Whether there was a connection, so that messages sent to it may have been lost. */
    boolean stood() {
        lock.lock();
        try {
            return connection != null;
        } finally {
            lock.unlock();
        }
    }

    /** Connects and reads, until the connection breaks (an exception) or the thread is interrupted. */
    void listen() throws Exception {
        node.converse(fresh -> {
            lock.lock();
            try {
                connection = fresh;
                send();
            } finally {
                lock.unlock();
            }
            while (true) {
                hear(fresh);
            }
        });
    }

    private void hear(DuplexConnection fresh) {
        try {
            List<?> words = (List<?>) fresh.getUnflushedObject();
            String channel = SafeEncoder.encode((byte[]) words.get(1));
            switch (SafeEncoder.encode((byte[]) words.get(0))) {
                case "smessage" -> listener.message(SafeEncoder.encode((byte[]) words.get(2)));
                case "ssubscribe" -> {
                    answered(new Order(Command.SSUBSCRIBE, channel));
                    listener.subscribed(this, channel);
                }
                case "sunsubscribe" -> {
                    if (!answered(new Order(Command.SUNSUBSCRIBE, channel))) {
                        listener.moved(this, channel);
                    }
                }
                default -> LOG.debug("{} said {}", node, words);
            }
        } catch (JedisDataException e) {
            Order refused = answered();
            if (e instanceof JedisRedirectionException && refused != null) {
                listener.moved(this, refused.channel);
            } else {
                // Messages come by the client's plain channel, then.
                node.warnIfForbidden(e);
                LOG.debug("{} refused {}", node, refused, e);
            }
        }
    }

    private void order(Order order) {
        lock.lock();
        try {
            unsent.add(order);
            send();
        } finally {
            lock.unlock();
        }
    }

    /** Whether that was the next to be answered; if not, the server has said it by itself. */
    private boolean answered(Order order) {
        lock.lock();
        try {
            boolean next = order.equals(unanswered.peek());
            if (next) {
                answered();
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    /** The next to be answered is; null if none was to be. */
    private @Nullable Order answered() {
        lock.lock();
        try {
            Order order = unanswered.poll();
            DuplexConnection open = connection;
            if (unanswered.isEmpty() && open != null) {
                written = 0;
                open.setSoTimeout(0); // the socket counts anew, too
                send();
            }
            return order;
        } finally {
            lock.unlock();
        }
    }

    private void send() {
        DuplexConnection open = connection;
        if (open == null) {
            return;
        }
        Order next = unsent.peek();
        while (next != null && (unanswered.isEmpty() || written + next.bytes() <= WINDOW)) {
            unanswered.add(next);
            unsent.remove();
            written += next.bytes();
            try {
                open.write(next.command, next.channel);
            } catch (JedisConnectionException e) {
                open.discard(); // the thread that reads sees it
                return;
            }
            next = unsent.peek();
        }
    }
}
