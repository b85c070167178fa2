// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * What scripts say to this client: {@code R number,number key}, those requests should ask again;
 * {@code G number:attempt:token,number:attempt:token key}, those requests are granted, each from that attempt on;
 * {@code B token key reason}, that grant was broken. It comes over the channel of the client or, of a name that it
 * waits for in a cluster, over a sharded one ({@link ShardChannels}). While nobody listens, messages are lost: so what
 * waits is asked again as soon as the subscription stands.
 */
final class Notifications {

    private static final Logger LOG = LoggerFactory.getLogger(Notifications.class);

    private static final Duration PATIENCE = Duration.ofMillis(500);

    /** After how long a waiter asks again that may have missed a message. */
    private static final Duration RECHECK_WHEN_UNSUBSCRIBED = Duration.ofMillis(25);
    /** The same where none will ever come. */
    private static final Duration RECHECK_WHEN_FORBIDDEN = Duration.ofMillis(250);

    /** How scripts are told that a request does not queue: it hears of nothing. */
    static final byte[] AT_ONCE = {};

    /** What no token is. */
    static final long NOT_GRANTED = 0;

    /**
     * A request that queues, from its first attempt on.
     *
     * @param askedAt names its last attempt
     * @param answered that one was told to wait; before, a message can be faster than its answer
     * @param waits an attempt of it was
     * @param token what a message has granted that came before the answer; {@link #NOT_GRANTED} if none did
     */
    private record Waiter(Request request, long askedAt, boolean answered, boolean waits, long token) {}

    private final RedisLink link;
    private final RedisKeys keys;
    private final LockBackend.Signals signals;
    private final String channel;
    private final @Nullable ShardChannels shards;
    private final AtomicBoolean started = new AtomicBoolean();
    private final String queueing;
    private final boolean takesGrants;
    private final ScriptCodec codec;
    /** Of what waits, in the map and by the sharded channels alike; not needed without those. */
    private final ReentrantLock counting = new ReentrantLock();

    private final Map<Long, Waiter> waiting = new ConcurrentHashMap<>();
    private final CountDownLatch tried = new CountDownLatch(1);
    private volatile boolean forbidden;
    private volatile long subscription;
    private long subscriptions;

    /**
     * With {@code slots} messages come over sharded channels, too; that is for clusters whose servers all have them.
     *
     * @param takesGrants whether what this client waits for may be granted by a message
     * @param codec learns the lift of the tokens in messages
     */
    Notifications(
            RedisLink link,
            RedisKeys keys,
            LockBackend.Signals signals,
            Incarnation client,
            RedisLink.@Nullable Slots slots,
            boolean takesGrants,
            ScriptCodec codec) {
        this.link = link;
        this.keys = keys;
        this.signals = signals;
        this.channel = keys.channel(client);
        this.queueing = "q" + (slots == null ? "" : "s");
        this.takesGrants = takesGrants;
        this.codec = codec;
        this.shards = slots == null
                ? null
                : new ShardChannels(slots, signals, name -> keys.channel(name, client), this::take, this::recheck);
    }

    /**
     * Has the kit listen from now on, in the background, and waits until it does or has failed to, so that no break is
     * missed of what is granted next; but for a small part of the time left at most, since a break is told again by a
     * renewal. True once it need not be called again.
     */
    boolean begin(Deadline deadline) throws InterruptedException {
        if (started.compareAndSet(false, true)) {
            signals.background("messages", this::listen);
        }
        return tried.await(Math.min(deadline.nanos() / 4, PATIENCE.toNanos()), TimeUnit.NANOSECONDS);
    }

    /**
     * The number of the subscription that stands, 0 for none. Whoever has to wait, and finds another one than before
     * he asked, may have missed the message that he waits for.
     */
    long subscriptionNumber() {
        long plain = subscription;
        return plain == 0 || shards == null ? plain : plain + shards.gaps();
    }

    /**
     * After how long a waiter asks again: sooner if it may have missed a message.
     *
     * @param within after how long it does if it has not
     * @param before the subscription that stood when it asked
     */
    Duration recheckWithin(Duration within, long before) {
        if (before != 0 && before == subscriptionNumber()) {
            return within;
        }
        Duration soon = forbidden ? RECHECK_WHEN_FORBIDDEN : RECHECK_WHEN_UNSUBSCRIBED;
        return within.compareTo(soon) < 0 ? within : soon;
    }

    /**
     * How scripts are told that a request queues, and how its client hears.
     *
     * @param askedAt the clock before the attempt, by which a grant by message names it
     * @param late whether an earlier attempt may still be under way
     */
    byte[] queueing(Request request, long askedAt, boolean late) {
        // Nothing is kept for a waiter that may have died. A late attempt must find no grant.
        boolean byMessage = takesGrants && request.holdAtLeast().isZero() && !late;
        return ScriptCodec.bytes(byMessage ? queueing + "g" + askedAt : queueing);
    }

    /**
     * An attempt of that request is about to be sent: what earlier ones came to counts no more. Returns
     * {@link #subscriptionNumber} before that.
     *
     * @param askedAt the clock before the attempt
     */
    long asks(Request request, long askedAt) {
        long number = subscriptionNumber();
        Waiter before = waiting.get(request.id());
        waiting.put(request.id(), new Waiter(request, askedAt, false, before != null && before.waits(), NOT_GRANTED));
        return number;
    }

    /**
     * The last attempt of that request was told to wait.
     *
     * @return the token by which a message has granted it meanwhile, and then it waits no more; else
     *     {@link #NOT_GRANTED}
     */
    long waits(Request request) {
        if (shards == null) {
            return answered(request);
        }
        counting.lock();
        try {
            Waiter before = waiting.get(request.id());
            long token = answered(request);
            if (token == NOT_GRANTED) {
                shards.waits(request.key().name(), before == null || !before.waits());
            } else if (before != null && before.waits()) {
                shards.waitsNoMore(request.key().name());
            }
            return token;
        } finally {
            counting.unlock();
        }
    }

    private long answered(Request request) {
        Waiter now = waiting.computeIfPresent(
                request.id(),
                (id, asked) -> asked.token() == NOT_GRANTED
                        ? new Waiter(request, asked.askedAt(), true, true, NOT_GRANTED)
                        : asked);
        if (now == null || now.token() == NOT_GRANTED) {
            return NOT_GRANTED;
        }
        waiting.remove(request.id(), now);
        return now.token();
    }

    /** It does not any more, if it did. */
    void waitsNoMore(long request) {
        for (Waiter waiter = waiting.get(request); waiter != null && !waitsNoMore(waiter); ) {
            waiter = waiting.get(request);
        }
    }

    /** False if another attempt was sent meanwhile. */
    private boolean waitsNoMore(Waiter waiter) {
        if (shards == null || !waiter.waits()) {
            return waiting.remove(waiter.request().id(), waiter);
        }
        counting.lock();
        try {
            boolean gone = waiting.remove(waiter.request().id(), waiter);
            if (gone) {
                shards.waitsNoMore(waiter.request().key().name());
            }
            return gone;
        } finally {
            counting.unlock();
        }
    }

    private void recheck(Set<LockName> names) {
        if (!names.isEmpty()) {
            keys().filter(key -> names.contains(key.name())).forEach(signals::recheck);
        }
    }

    private Stream<LockKey> keys() {
        return waiting.values().stream()
                .filter(Waiter::waits)
                .map(waiter -> waiter.request().key())
                .distinct();
    }

    private void listen() throws Exception {
        try {
            link.listen(channel, this::take, () -> {
                subscription = ++subscriptions;
                forbidden = false;
                keys().forEach(signals::recheck);
                tried.countDown();
            });
        } catch (NotExecutedException | JedisException e) {
            // Said by the events of the connection; the kit runs this again.
            warnIfForbidden(e);
            LOG.debug("No messages can be heard on {}: {}", channel, e.getMessage());
        } finally {
            subscription = 0;
            tried.countDown();
        }
    }

    private void warnIfForbidden(Exception failure) {
        if (failure instanceof JedisAccessControlException && !forbidden) {
            forbidden = true;
            LOG.warn(
                    "This client may not listen to {}: {} Until its user has +subscribe and the channels of the "
                            + "prefix, each waiter asks again every {} ms.",
                    channel,
                    failure.getMessage(),
                    RECHECK_WHEN_FORBIDDEN.toMillis());
        }
    }

    private void take(String message) {
        if (message.startsWith("R ")) {
            int space = message.indexOf(' ', 2);
            Optional<LockKey> found = space < 0 ? Optional.empty() : keys.parse(message.substring(space + 1));
            found.ifPresent(key -> {
                for (String number : message.substring(2, space).split(",", -1)) {
                    signals.recheck(key, Long.parseLong(number));
                }
            });
        } else if (message.startsWith("G ")) {
            int space = message.indexOf(' ', 2);
            Optional<LockKey> found = space < 0 ? Optional.empty() : keys.parse(message.substring(space + 1));
            found.ifPresent(key -> {
                for (String grant : message.substring(2, space).split(",", -1)) {
                    String[] words = grant.split(":", -1);
                    granted(key, Long.parseLong(words[0]), Long.parseLong(words[1]), codec.token(words[2]));
                }
            });
        } else if (message.startsWith("B ")) {
            int space = message.indexOf(' ', 2);
            int end = message.indexOf('}', space) + 3;
            if (space > 0 && end > 2 && end <= message.length()) {
                Optional<LockKey> key = keys.parse(message.substring(space + 1, end));
                long token = codec.token(message.substring(2, space));
                String reason = message.substring(end);
                key.ifPresent(found -> signals.ended(found, token, Cause.BROKEN, broken(reason)));
            }
        }
    }

    private void granted(LockKey key, long number, long askedAt, long token) {
        Waiter waiter = waiting.computeIfPresent(
                number,
                (id, asked) -> asked.askedAt() != askedAt || asked.answered()
                        ? asked
                        : new Waiter(asked.request(), askedAt, false, asked.waits(), token));
        if (waiter == null || waiter.askedAt() != askedAt) {
            // A later attempt was sent, or it is over: another one finds the grant, if there is one.
            signals.recheck(key, number);
            return;
        }
        if (!waiter.answered()) {
            // Whoever takes the answer to the attempt takes the grant.
            return;
        }
        signals.granted(waiter.request(), () -> {
            Duration age = Duration.ofNanos(System.nanoTime() - askedAt);
            // If it is too old, another attempt begins the ttl anew.
            return age.compareTo(waiter.request().ttl().dividedBy(2)) < 0 && waitsNoMore(waiter)
                    ? Optional.of(new Attempt.Granted(ScriptCodec.grant(waiter.request(), token), age))
                    : Optional.empty();
        });
    }

    static String broken(String reason) {
        return "broken: " + reason;
    }
}
