// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisException;

/**
 * What scripts say to this client: {@code R number,number key}, those requests should ask again; {@code G number attempt token
 * key}, that request is granted, from that attempt on; {@code B token key reason}, that grant was broken. It comes over the channel of the client or, of a name that it waits for in a cluster, over a sharded one
 * ({@link ShardChannels}). While nobody listens, messages are lost: so what waits is asked again as soon as the subscription stands.
 */
final class Messages {

    private static final Logger LOG = LoggerFactory.getLogger(Messages.class);

    private static final Duration PATIENCE = Duration.ofMillis(500);

    /** A request that waits, and the clock before its last attempt that was answered. */
    private record Waiter(Request request, long askedAt) {
        Duration age() {
            return Duration.ofNanos(System.nanoTime() - askedAt);
        }

        /** So much of the term is over that another attempt, which begins it anew, is better. */
        boolean isOld() {
            return age().compareTo(request.ttl().dividedBy(2)) > 0;
        }
    }

    private final RedisLink link;
    private final RedisKeys keys;
    private final LockBackend.Signals signals;
    private final String channel;
    private final @Nullable ShardChannels shards;
    private final AtomicBoolean started = new AtomicBoolean();
    private final String queueing;
    private final boolean takesGrants;
    private final Map<Long, Waiter> waiting = new ConcurrentHashMap<>();
    private final CountDownLatch tried = new CountDownLatch(1);
    private volatile long subscription;
    private long subscriptions;

    /**
     * With {@code slots} messages come over sharded channels, too; that is for clusters whose servers all have them.
     *
     * @param takesGrants whether what this client waits for may be granted by a message
     */
    Messages(
            RedisLink link,
            RedisKeys keys,
            LockBackend.Signals signals,
            Incarnation client,
            RedisLink.@Nullable Slots slots,
            boolean takesGrants) {
        this.link = link;
        this.keys = keys;
        this.signals = signals;
        this.channel = keys.channel(client);
        this.queueing = "q" + (slots == null ? "" : "s") + (takesGrants ? "g" : "");
        this.takesGrants = takesGrants;
        this.shards = slots == null
                ? null
                : new ShardChannels(slots, signals, name -> keys.channel(name, client), this::take, this::recheck);
    }

    /**
     * Has the kit listen from now on, in the background, and waits until it does or has failed to, so that no break is
     * missed of what is granted next; but for a small part of the time left at most, since a break is told again by a renewal.
     */
    void begin(Deadline deadline) throws InterruptedException {
        if (tried.getCount() == 0) {
            return;
        }
        if (started.compareAndSet(false, true)) {
            signals.background("messages", this::listen);
        }
        boolean unused = tried.await(Math.min(deadline.nanos() / 4, PATIENCE.toNanos()), TimeUnit.NANOSECONDS);
    }

    /**
     * A number for what is heard now, 0 for nothing. Whoever has to wait, and finds another number than before
     * he asked, may have missed the message that he waits for.
     */
    long hearing() {
        long plain = subscription;
        return plain == 0 || shards == null ? plain : plain + shards.gaps();
    }

    /**
     * How scripts are told that a request queues, and how its client hears.
     *
     * @param askedAt the clock before the attempt, by which a grant by message names it
     */
    byte[] queueing(long askedAt) {
        return RedisKeys.bytes(takesGrants ? queueing + askedAt : queueing);
    }

    /**
     * That request has to wait.
     *
     * @param askedAt the clock before the attempt of which that is the answer
     */
    void waits(Request request, long askedAt) {
        boolean another = waiting.put(request.id(), new Waiter(request, askedAt)) == null;
        if (shards != null) {
            shards.waits(request.key().name(), another);
        }
    }

    /** It does not any more, if it did. */
    void waitsNoMore(long request) {
        if (!waiting.isEmpty()) {
            Waiter gone = waiting.remove(request);
            if (gone != null && shards != null) {
                shards.waitsNoMore(gone.request().key().name());
            }
        }
    }

    private void recheck(Set<LockName> names) {
        if (!names.isEmpty()) {
            keys().filter(key -> names.contains(key.name())).forEach(signals::recheck);
        }
    }

    private Stream<LockKey> keys() {
        return waiting.values().stream().map(waiter -> waiter.request().key()).distinct();
    }

    private void listen() throws Exception {
        try {
            link.listen(channel, this::take, () -> {
                subscription = ++subscriptions;
                tried.countDown();
                keys().forEach(signals::recheck);
            });
        } catch (NotExecutedException | JedisException e) {
            // Said by the events of the connection; the kit runs this again.
            LOG.debug("No messages can be heard on {}: {}", channel, e.getMessage());
        } finally {
            subscription = 0;
            tried.countDown();
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
            String[] words = message.split(" ", 5);
            Optional<LockKey> found = words.length < 5 ? Optional.empty() : keys.parse(words[4]);
            found.ifPresent(
                    key -> granted(key, Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3])));
        } else if (message.startsWith("B ")) {
            int space = message.indexOf(' ', 2);
            int end = message.indexOf('}', space) + 3;
            if (space > 0 && end > 2 && end <= message.length()) {
                Optional<LockKey> key = keys.parse(message.substring(space + 1, end));
                long token = Long.parseLong(message.substring(2, space));
                String reason = message.substring(end);
                key.ifPresent(found -> signals.ended(found, token, Cause.BROKEN, broken(reason)));
            }
        }
    }

    private void granted(LockKey key, long number, long askedAt, long token) {
        Waiter waiter = waiting.get(number);
        if (waiter == null || waiter.askedAt() != askedAt || waiter.isOld()) {
            // Either the answer to that attempt is not heard yet, and another attempt finds the grant; or a later one
            // was
            // told to wait again, so that the grant is over.
            signals.recheck(key, number);
            return;
        }
        waitsNoMore(number);
        signals.granted(waiter.request(), grant(waiter.request(), token), waiter::age);
    }

    static Grant grant(Request request, long token) {
        return new Grant(request.id(), request.key(), token, request.ttl(), "");
    }

    static String broken(String reason) {
        return "broken: " + reason;
    }
}
