// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.SafeEncoder;

/**
 * The connections to one server. A call takes one for itself; the one used last is taken first. Error replies are
 * thrown as Jedis has them ({@link JedisDataException} and its kinds), so that who knows the topology can follow
 * redirections.
 */
final class RedisNode implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RedisNode.class);
    private static final long FRESH = TimeUnit.SECONDS.toNanos(5);

    private final String host;
    private final int port;
    private final RedisSettings settings;
    private final LockBackend.Signals signals;
    private final ConcurrentLinkedDeque<DuplexConnection> idle = new ConcurrentLinkedDeque<>();
    private final Semaphore permits;
    /** For what renews or ends a grant, when all others are in use: those who ask for locks could be many. */
    private final Semaphore reserved = new Semaphore(1, true);

    private final AtomicBoolean up = new AtomicBoolean();
    private final AtomicBoolean warned = new AtomicBoolean();
    private final Set<DuplexConnection> listening = ConcurrentHashMap.newKeySet();
    private final RestartWatch restarts = new RestartWatch();
    private volatile boolean closed;

    /** {@code host} and {@code port} are dialled as they are. */
    RedisNode(String host, int port, RedisSettings settings, LockBackend.Signals signals) {
        this.host = host;
        this.port = port;
        this.settings = settings;
        this.signals = signals;
        this.permits = new Semaphore(settings.get(RedisOptions.CONNECTIONS));
    }

    /** What is done with a connection; null as a result is for a reply that is null. */
    @FunctionalInterface
    interface Exchange<T extends @Nullable Object> {
        T with(Connection connection) throws Exception;
    }

    Object run(RedisScript.Call call, Deadline deadline) throws Exception {
        return call(call::on, call.isUrgent(), deadline);
    }

    RedisLink.Acknowledged runAcknowledged(RedisScript.Call call, int replicas, Deadline deadline) throws Exception {
        return call(
                connection -> {
                    Object reply = call.on(connection);
                    return new RedisLink.Acknowledged(reply, acknowledged(connection, replicas, deadline));
                },
                call.isUrgent(),
                deadline);
    }

    /**
     * Waits until that many replicas know what was written on this connection, and returns how many do: none, as far as
     * is known, if the server does not tell. What was written is written all the same.
     */
    private int acknowledged(Connection connection, int replicas, Deadline deadline) {
        try {
            connection.sendCommand(
                    Command.WAIT, Integer.toString(replicas), Integer.toString(deadline.millis() / 2 + 1));
            return connection.getIntegerReply().intValue();
        } catch (JedisDataException e) {
            warnIfForbidden(e);
            LOG.debug("{} does not tell how many replicas know of a grant", this, e);
            return 0;
        }
    }

    /** As {@link #run}, at a server that is about to take over the slot of the keys. */
    Object runAsking(RedisScript.Call call, Deadline deadline) throws Exception {
        return call(call::onAsking, call.isUrgent(), deadline);
    }

    /** As {@link RedisLink#runAll}. */
    List<Object> runAll(List<RedisScript.Call> calls, int replicas, Deadline deadline) throws Exception {
        return call(
                connection -> {
                    List<Object> replies = RedisScript.Call.all(calls, connection);
                    if (replicas > 0) {
                        int known = acknowledged(connection, replicas, deadline);
                        replies.replaceAll(
                                reply -> reply instanceof Exception ? reply : new RedisLink.Acknowledged(reply, known));
                    }
                    return replies;
                },
                calls.stream().anyMatch(RedisScript.Call::isUrgent),
                deadline);
    }

    /** One exchange on a connection of its own. */
    <T extends @Nullable Object> T call(Exchange<T> exchange, Deadline deadline) throws Exception {
        return call(exchange, false, deadline);
    }

    private <T extends @Nullable Object> T call(Exchange<T> exchange, boolean urgent, Deadline deadline)
            throws Exception {
        Semaphore room = reserve(urgent, deadline);
        try {
            return exchange(exchange, deadline);
        } finally {
            room.release();
        }
    }

    private <T extends @Nullable Object> T exchange(Exchange<T> exchange, Deadline deadline) throws Exception {
        DuplexConnection connection = connection(deadline);
        boolean usable = false;
        try {
            connection.setSoTimeout(deadline.millis());
            T result = exchange.with(connection);
            usable = true;
            up();
            return result;
        } catch (JedisDataException e) {
            usable = true;
            warnIfForbidden(e);
            throw ServerErrors.translated(e);
        } catch (JedisConnectionException e) {
            throw broken(e);
        } finally {
            giveBack(connection, usable);
        }
    }

    /** As {@link RedisLink#visitAll}, for this server. */
    void visit(RedisLink.Visit visit, Deadline deadline) throws Exception {
        call(
                connection -> {
                    visit.visit(toString(), connection);
                    return true;
                },
                deadline);
    }

    private Semaphore reserve(boolean urgent, Deadline deadline) throws Exception {
        deadline.check("a connection was free");
        if (closed) {
            throw new NotExecutedException("the connections to " + this + " are closed");
        }
        if (permits.tryAcquire()) {
            return permits;
        }
        Semaphore room = urgent ? reserved : permits;
        if (!room.tryAcquire(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("all " + settings.get(RedisOptions.CONNECTIONS) + " connections to " + this
                    + " are in use; the option connections allows more");
        }
        return room;
    }

    private DuplexConnection connection(Deadline deadline) throws Exception {
        DuplexConnection connection = idle(deadline);
        return connection == null ? open(deadline) : connection;
    }

    private @Nullable DuplexConnection idle(Deadline deadline) {
        DuplexConnection found = idle.pollFirst();
        if (found == null || System.nanoTime() - found.idleSince < FRESH) {
            return found;
        }
        try {
            found.setSoTimeout(deadline.millis());
            found.ping();
            return found;
        } catch (JedisException e) {
            // The server, or something on the way, gave up the idle connections: likely all of them.
            found.discard();
            discardIdle();
            return null;
        }
    }

    private void giveBack(DuplexConnection connection, boolean usable) {
        if (usable && !connection.isBroken() && !closed) {
            connection.idleSince = System.nanoTime();
            idle.addFirst(connection);
            if (closed) {
                discardIdle();
            }
        } else {
            connection.discard();
        }
    }

    /**
     * A connection beside the others, which the caller closes by {@link DuplexConnection#discard}. Nothing was sent if
     * this fails.
     */
    DuplexConnection open(Deadline deadline) throws Exception {
        Deadline end = deadline.orSooner(settings.connectTimeout());
        RedisSockets sockets = new RedisSockets(host, port, settings.tls(), end);
        try {
            DuplexConnection connection = new DuplexConnection(
                    sockets, settings.driver().socketTimeoutMillis(end.millis()).build());
            up();
            return connection;
        } catch (JedisException e) {
            sockets.close();
            Exception failure = failure(e);
            if (failure instanceof InterruptedException) {
                throw failure;
            }
            warnIfForbidden(e);
            String why = ConnectionTrouble.ofHandshake(e, host + ":" + port, settings.tls() == null);
            down(why);
            throw new NotExecutedException(why, e);
        }
    }

    /** The exchange was not finished: its outcome is unknown. */
    private Exception broken(JedisConnectionException e) {
        Exception failure = failure(e);
        if (!(failure instanceof InterruptedException) && !closed) {
            // A reply that is late says nothing of the other connections.
            if (!(e.getCause() instanceof SocketTimeoutException)) {
                discardIdle();
            }
            down(String.valueOf(e.getMessage()));
        }
        return failure;
    }

    private static Exception failure(JedisException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof ClosedByInterruptException) {
                Thread.interrupted();
                InterruptedException interrupted = new InterruptedException("interrupted while talking to the server");
                interrupted.initCause(e);
                return interrupted;
            }
        }
        return e;
    }

    /** Time does not mend it, so the log has to say it; once is enough. */
    void warnIfForbidden(JedisException e) {
        if ((e instanceof JedisAccessControlException || ServerErrors.isForbiddenInScript(e))
                && warned.compareAndSet(false, true)) {
            LOG.warn("{} does not let this client do its work: {}", this, e.getMessage());
        }
    }

    private void up() {
        if (!up.get() && up.compareAndSet(false, true)) {
            signals.connected(toString());
        }
    }

    private void down(String why) {
        if (up.compareAndSet(true, false)) {
            signals.disconnected(toString(), why);
        }
    }

    private void discardIdle() {
        for (DuplexConnection found = idle.pollFirst(); found != null; found = idle.pollFirst()) {
            found.discard();
        }
    }

    /** As {@link RedisLink#listen}, on a connection of its own. */
    void listen(String channel, Consumer<String> message, Runnable subscribed) throws Exception {
        converse(connection -> hear(connection, channel, message, subscribed));
    }

    /** As {@link #listen}, to a server that keeps locks. */
    void listenToStore(String channel, Consumer<String> message, Runnable subscribed) throws Exception {
        converse(connection -> {
            restarts.check(toString(), connection, signals);
            hear(connection, channel, message, subscribed);
        });
    }

    private static void hear(Connection connection, String channel, Consumer<String> message, Runnable subscribed) {
        connection.sendCommand(Command.SUBSCRIBE, channel);
        while (true) {
            List<?> words = (List<?>) connection.getOne();
            String kind = SafeEncoder.encode((byte[]) words.get(0));
            if (kind.equals("message")) {
                message.accept(SafeEncoder.encode((byte[]) words.get(2)));
            } else if (kind.equals("subscribe")) {
                subscribed.run();
            }
        }
    }

    /** What goes on over a connection until that breaks. */
    @FunctionalInterface
    interface Conversation {
        void over(DuplexConnection connection);
    }

    /**
     * Connects, beside the other connections, and leaves this one to the conversation until it breaks (an exception).
     */
    void converse(Conversation conversation) throws Exception {
        DuplexConnection connection = open(Deadline.after(settings.connectTimeout()));
        listening.add(connection);
        try {
            if (!closed) {
                connection.setSoTimeout(0);
                conversation.over(connection);
            }
        } catch (JedisDataException e) {
            warnIfForbidden(e);
            throw e;
        } catch (JedisConnectionException e) {
            throw broken(e);
        } finally {
            listening.remove(connection);
            connection.discard();
        }
    }

    /** As {@link #close}, of a server that keeps no locks any more. */
    void retire(String why) {
        down(why);
        close();
    }

    String host() {
        return host;
    }

    /** Closes what is idle or listens; what else is in use is closed when it is given back. */
    @Override
    public void close() {
        closed = true;
        discardIdle();
        listening.forEach(DuplexConnection::discard);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RedisNode node && host.equals(node.host) && port == node.port;
    }

    @Override
    public int hashCode() {
        return Objects.hash(host, port);
    }

    /** Returns host and port. */
    @Override
    public String toString() {
        return host.indexOf(':') >= 0 ? "[" + host + "]:" + port : host + ":" + port;
    }
}
