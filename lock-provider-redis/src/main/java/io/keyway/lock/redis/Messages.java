// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisException;

/**
 * What scripts say to this client: {@code R number,number key}, those requests should ask again; {@code B token key reason},
 * that grant was broken. It comes over the channel of the client or, of a name that it waits for in a cluster, over a sharded one
 * ({@link ShardChannels}). While nobody listens, messages are lost: so what waits is asked again as soon as the subscription stands.
 */
final class Messages {

    private static final Logger LOG = LoggerFactory.getLogger(Messages.class);

    private static final Duration PATIENCE = Duration.ofMillis(500);

    private static final byte[] PLAIN = {'1'};
    private static final byte[] SHARDED = {'2'};

    private final RedisLink link;
    private final RedisKeys keys;
    private final LockBackend.Signals signals;
    private final String channel;
    private final @Nullable ShardChannels shards;
    private final AtomicBoolean started = new AtomicBoolean();
    private final Map<Long, LockKey> waiting = new ConcurrentHashMap<>();
    private final CountDownLatch tried = new CountDownLatch(1);
    private volatile long subscription;
    private long subscriptions;

    /** With {@code slots} messages come over sharded channels, too; that is for clusters whose servers all have them. */
    Messages(
            RedisLink link,
            RedisKeys keys,
            LockBackend.Signals signals,
            Incarnation client,
            RedisLink.@Nullable Slots slots) {
        this.link = link;
        this.keys = keys;
        this.signals = signals;
        this.channel = keys.channel(client);
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

    /** How scripts are told that a request queues, and by which channels its client hears. */
    byte[] queueing() {
        return shards == null ? PLAIN : SHARDED;
    }

    /** That request waits for the key. */
    void waits(long request, LockKey key) {
        boolean another = waiting.put(request, key) == null;
        if (shards != null) {
            shards.waits(key.name(), another);
        }
    }

    /** It does not any more, if it did. */
    void waitsNoMore(long request) {
        if (!waiting.isEmpty()) {
            LockKey key = waiting.remove(request);
            if (key != null && shards != null) {
                shards.waitsNoMore(key.name());
            }
        }
    }

    private void recheck(Set<LockName> names) {
        if (!names.isEmpty()) {
            Set.copyOf(waiting.values()).stream()
                    .filter(key -> names.contains(key.name()))
                    .forEach(signals::recheck);
        }
    }

    private void listen() throws Exception {
        try {
            link.listen(channel, this::take, () -> {
                subscription = ++subscriptions;
                tried.countDown();
                Set.copyOf(waiting.values()).forEach(signals::recheck);
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

    static String broken(String reason) {
        return "broken: " + reason;
    }
}
