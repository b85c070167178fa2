// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LockName;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The sharded channels of a client, one for each name that it waits for, at the master that has the name's slot; one
 * connection for each such master. It is subscribed when a request was told to wait, and beside that: until the
 * subscription stands, and wherever none does, scripts send by the client's plain channel, so that nothing waits for
 * this and nothing is missed. Missed is only what was sent to a connection that broke: then what waits there asks
 * again, and once more when the subscription stands anew, since the server may have sent to the old one until then.
 *
 * <p>A slot that moves takes its channels from the server that had it. Its waiters ask again, are redirected, and
 * subscribe where they were answered.
 */
final class ShardChannels implements ShardListener.Listener {

    /** How many are kept at most for which nobody waits any more. */
    static final int KEPT = 100;

    private static final Logger LOG = LoggerFactory.getLogger(ShardChannels.class);

    private static final class Channel {
        final LockName name;
        int waiters;
        /** Where it is subscribed, or is about to be, or was refused. */
        @Nullable
        ShardListener at;
        /** Whether a connection broke that listened to it, and no other has followed. */
        boolean broken;

        Channel(LockName name) {
            this.name = name;
        }
    }

    private final RedisLink.Slots slots;
    private final LockBackend.Signals signals;
    private final Function<LockName, String> naming;
    private final Consumer<String> message;
    private final Consumer<Set<LockName>> missed;

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Channel> channels = new HashMap<>();
    private final Set<String> idle = new LinkedHashSet<>();
    private final Map<RedisNode, ShardListener> listeners = new HashMap<>();
    private final BlockingQueue<ShardListener> unserved = new LinkedBlockingQueue<>();
    private int loops;
    private final AtomicLong gaps = new AtomicLong();

    /**
     * @param naming the channel of a name
     * @param message what is done with a message
     * @param missed what is done with names of which a message may have been missed, or whose channels have to be
     *     subscribed elsewhere
     */
    ShardChannels(
            RedisLink.Slots slots,
            LockBackend.Signals signals,
            Function<LockName, String> naming,
            Consumer<String> message,
            Consumer<Set<LockName>> missed) {
        this.slots = slots;
        this.signals = signals;
        this.naming = naming;
        this.message = message;
        this.missed = missed;
    }

    /** Rises whenever a message may have been missed. */
    long gaps() {
        return gaps.get();
    }

    /** A request has to wait for that name; also said when it still has to. */
    void waits(LockName name, boolean another) {
        String channel = naming.apply(name);
        int loop = 0;
        lock.lock();
        try {
            Channel found = channels.computeIfAbsent(channel, fresh -> new Channel(name));
            if (another) {
                found.waiters++;
                idle.remove(channel);
            }
            RedisNode owner = slots.owner(channel);
            ShardListener at = found.at;
            if (owner == null || (at != null && at.isAt(owner))) {
                return;
            }
            if (at != null) {
                at.unsubscribe(channel);
            }
            ShardListener there = listener(owner);
            found.at = there;
            there.subscribe(channel);
            if (loops < listeners.size()) {
                loop = ++loops;
            }
        } finally {
            lock.unlock();
        }
        if (loop > 0) {
            signals.background("messages-" + loop, this::serve);
        }
    }

    private ShardListener listener(RedisNode owner) {
        ShardListener known = listeners.get(owner);
        if (known != null && known.isAt(owner)) {
            return known;
        }
        ShardListener fresh = new ShardListener(owner, this);
        listeners.put(owner, fresh);
        unserved.add(fresh);
        return fresh;
    }

    /** A request waits for that name no more. */
    void waitsNoMore(LockName name) {
        String channel = naming.apply(name);
        lock.lock();
        try {
            Channel found = channels.get(channel);
            if (found != null && --found.waiters == 0) {
                idle.add(channel);
                if (idle.size() > KEPT) {
                    dropEldest();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void dropEldest() {
        Iterator<String> eldest = idle.iterator();
        String channel = eldest.next();
        eldest.remove();
        Channel dropped = channels.remove(channel);
        if (dropped != null && dropped.at != null) {
            dropped.at.unsubscribe(channel);
        }
    }

    /** Listens at one server, until that connection breaks. */
    private void serve() throws Exception {
        ShardListener next = unserved.take();
        try {
            next.listen();
        } catch (NotExecutedException | JedisException e) {
            // Said by the events of the connection.
            LOG.debug("No messages can be heard at {}: {}", next.node(), e.getMessage());
        } finally {
            ended(next);
        }
    }

    private void ended(ShardListener listener) {
        boolean stood = listener.stood();
        Set<LockName> waiting = new LinkedHashSet<>();
        lock.lock();
        try {
            listeners.remove(listener.node(), listener);
            for (Channel each : channels.values()) {
                if (each.at == listener) {
                    each.at = null;
                    each.broken |= stood;
                    if (stood && each.waiters > 0) {
                        waiting.add(each.name);
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        if (stood) {
            gaps.incrementAndGet();
            missed.accept(waiting);
        }
    }

    @Override
    public void subscribed(ShardListener at, String channel) {
        Set<LockName> waiting = Set.of();
        lock.lock();
        try {
            Channel found = channels.get(channel);
            if (found != null && found.broken && found.at == at) {
                found.broken = false;
                gaps.incrementAndGet();
                waiting = Set.of(found.name);
            }
        } finally {
            lock.unlock();
        }
        missed.accept(waiting);
    }

    @Override
    public void moved(ShardListener at, String channel) {
        Set<LockName> waiting = Set.of();
        lock.lock();
        try {
            Channel found = channels.get(channel);
            if (found != null && found.at == at) {
                found.at = null;
                waiting = Set.of(found.name);
            }
        } finally {
            lock.unlock();
        }
        missed.accept(waiting);
    }

    @Override
    public void message(String text) {
        message.accept(text);
    }
}
