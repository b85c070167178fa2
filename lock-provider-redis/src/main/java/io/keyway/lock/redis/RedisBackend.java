// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.Leftovers;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisException;

/** Locks in Redis: each verb is one script, run where the keys of the name live. */
final class RedisBackend implements LockBackend {
    private static final Logger LOG = LoggerFactory.getLogger(RedisBackend.class);
    /** What attempt.lua says of a request whose grant was broken. */
    private static final long BROKEN = -2;

    private static final byte[] WITHDRAWN = ScriptCodec.bytes("withdrawn");
    private static final byte[] TOMBSTONE_MILLIS = Protocol.toByteArray(LateAttempts.UNDER_WAY.toMillis());

    private final RedisLink link;
    private final Duration connectTimeout;
    private final int waitReplicas;
    private final String prefix;
    private final RedisKeys keys;
    private final Guarantees guarantees;
    private final Listing listing;
    private final ServerCheck check;
    private final Optional<TokenFloorWriter> floor;
    private final ScriptCodec codec = new ScriptCodec();

    /** Requests of which the next attempt follows the release of what was broken: they go on. */
    private final Set<Long> brokenUnheard = ConcurrentHashMap.newKeySet();

    /** Null until an attempt had no answer, as mostly none has. */
    private volatile @Nullable LateAttempts lateAttempts;

    private volatile @Nullable String idPrefix;
    private volatile @Nullable Signals signals;
    private volatile @Nullable Notifications notifications;
    private volatile boolean listens;

    RedisBackend(RedisLink link, RedisSettings settings, Guarantees guarantees) {
        this.link = link;
        this.connectTimeout = settings.connectTimeout();
        this.waitReplicas = settings.get(RedisOptions.WAIT_REPLICAS);
        this.guarantees = guarantees;
        this.check = new ServerCheck(settings.url(), settings.get(CommonOptions.REQUIRE));
        this.prefix = settings.get(RedisOptions.PREFIX);
        this.keys = new RedisKeys(link, prefix);
        this.listing = new Listing(link, keys);
        this.floor = settings.floor().map(wanted -> new TokenFloorWriter(link, settings, wanted));
    }

    @Override
    public void start(Signals signals, Incarnation client) throws Exception {
        Deadline deadline = Deadline.after(connectTimeout);
        try {
            link.start(signals, deadline);
        } catch (NotExecutedException e) {
            throw ServerCheck.isRefusal(e) ? check.refused(e) : e;
        }
        RedisLink.Slots slots = null;
        try {
            link.visitAll(check.with(keys.channel(client)), deadline);
            slots = check.allHaveShardedMessages() ? link.slots() : null;
        } catch (NotExecutedException | JedisException e) {
            LOG.info(
                    "Not every Redis server shows its settings, so a server that may lose locks gets no warning: {}",
                    e.getMessage());
        }
        if (floor.isPresent()) {
            floor.get().give(codec, deadline);
        }
        this.signals = signals;
        idPrefix = client + ":";
        // What is granted unasked cannot be acknowledged by replicas.
        notifications = new Notifications(link, keys, signals, client, slots, waitReplicas == 0, codec);
    }

    @Override
    public Attempt attempt(Request request, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        if (!listens) {
            listens = started(notifications).begin(deadline);
        }
        String id = id(request.id());
        long askedAt = System.nanoTime();
        byte[][] arguments = codec.withOptional(
                request,
                ScriptCodec.bytes(id),
                ScriptCodec.millis(request.ttl()),
                codec.modeAndOwner(request),
                Protocol.toByteArray(request.capacity()),
                queueing(request, askedAt));
        return send(
                request,
                new RedisScript.Call(attempting(request), keys.all(request.key(), id), arguments),
                askedAt,
                deadline);
    }

    @Override
    public Attempt convert(Grant held, Request wanted, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        String id = id(wanted.id());
        long askedAt = System.nanoTime();
        byte[][] arguments = codec.withOptional(
                wanted,
                ScriptCodec.bytes(id),
                ScriptCodec.millis(wanted.ttl()),
                codec.modeAndOwner(wanted),
                ScriptCodec.bytes(id(held.id())),
                ScriptCodec.tokenNumber(held.token()),
                queueing(wanted, askedAt));
        return send(
                wanted,
                new RedisScript.Call(RedisScripts.CONVERT, keys.all(wanted.key(), id), arguments),
                askedAt,
                deadline);
    }

    private static RedisScript attempting(Request request) {
        RedisScript hard = request.permits() <= request.capacity() ? RedisScripts.ATTEMPT : RedisScripts.ATTEMPT_BEYOND;
        return request.isSoft() ? RedisScripts.DRAIN : hard;
    }

    private byte[] queueing(Request request, long askedAt) {
        return request.queue()
                ? started(notifications).queueing(request, askedAt, mayArriveLate(request.id()))
                : Notifications.AT_ONCE;
    }

    private Attempt send(Request request, RedisScript.Call call, long askedAt, Deadline deadline) throws Exception {
        // Only a request that queues is told anything.
        Notifications listener = request.queue() ? started(notifications) : null;
        long subscription = listener == null ? 0 : listener.asks(request, askedAt);
        Object reply = reply(request, call, deadline);
        if (isWithdrawn(reply)) {
            throw new NotExecutedException("request " + request.id() + " was withdrawn");
        }
        if (!(reply instanceof List)) {
            waitsNoMore(request);
            return new Attempt.Granted(ScriptCodec.grant(request, codec.token(reply)));
        }
        List<?> parts = ScriptCodec.list(reply);
        long millis = ScriptCodec.number(parts.get(0));
        if (millis == BROKEN) {
            waitsNoMore(request);
            brokenUnheard.add(request.id());
            Grant broken = ScriptCodec.grant(request, codec.token(ScriptCodec.text(parts.get(1))));
            return new Attempt.Waiting(request.ttl().dividedBy(4), OptionalInt.empty(), List.of(), Optional.of(broken));
        }
        List<Owner> holders = codec.owners(parts);
        if (millis < 0) {
            waitsNoMore(request);
            return new Attempt.Refused(holders);
        }
        Duration within = Duration.ofMillis(millis);
        if (listener == null) {
            leaveTombstoneIfLate(request.id(), request.key(), deadline);
        } else {
            long token = listener.waits(request);
            if (token != Notifications.NOT_GRANTED) {
                return new Attempt.Granted(ScriptCodec.grant(request, token));
            }
            within = listener.recheckWithin(within, subscription);
        }
        return new Attempt.Waiting(within, OptionalInt.of((int) ScriptCodec.number(parts.get(1))), holders);
    }

    private void waitsNoMore(Request request) {
        if (request.queue()) {
            started(notifications).waitsNoMore(request.id());
        }
    }

    private Object reply(Request request, RedisScript.Call call, Deadline deadline) throws Exception {
        try {
            return waitReplicas == 0 ? link.run(call, deadline) : runAcknowledged(call, deadline);
        } catch (NotExecutedException e) {
            throw e;
        } catch (Exception e) {
            lateAttempts().add(request.id(), System.nanoTime());
            throw e;
        }
    }

    private synchronized LateAttempts lateAttempts() {
        LateAttempts known = lateAttempts;
        if (known == null) {
            known = new LateAttempts(System.nanoTime());
            lateAttempts = known;
        }
        return known;
    }

    /** Whether an attempt of that request had no answer, and may still be under way. */
    private boolean mayArriveLate(long request) {
        LateAttempts known = lateAttempts;
        return known != null && known.contains(request);
    }

    private void arrivesNoMore(long request) {
        LateAttempts known = lateAttempts;
        if (known != null) {
            known.remove(request);
        }
    }

    private static boolean isWithdrawn(Object reply) {
        return reply instanceof byte[] word && Arrays.equals(word, WITHDRAWN);
    }

    /**
     * The request is about to be over: an attempt of it that is still under way must not grant what nobody releases.
     */
    private void leaveTombstoneIfLate(long request, LockKey key, Deadline deadline) throws Exception {
        if (mayArriveLate(request)) {
            byte[][] tombstone = keys.tombstone(key, id(request));
            link.run(
                    new RedisScript.Call(RedisScripts.TOMBSTONE, tombstone, new byte[][] {TOMBSTONE_MILLIS}), deadline);
            arrivesNoMore(request);
        }
    }

    @Override
    public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
        List<RedisScript.Call> calls = new ArrayList<>(grants.size());
        for (Grant grant : grants) {
            byte[][] arguments = {
                ScriptCodec.bytes(id(grant.id())),
                ScriptCodec.tokenNumber(grant.token()),
                ScriptCodec.millis(grant.ttl())
            };
            calls.add(new RedisScript.Call(RedisScripts.RENEW, keys.one(grant.key()), arguments));
        }
        List<Object> replies = link.runAll(calls, waitReplicas, Deadline.after(limit));
        List<Answer> answers = new ArrayList<>(grants.size());
        for (int i = 0; i < grants.size(); i++) {
            answers.add(renewed(grants.get(i), replies.get(i)));
        }
        return answers;
    }

    private Answer renewed(Grant grant, Object reply) {
        if (reply instanceof RedisLink.Acknowledged known) {
            Answer answer = renewed(grant, known.reply());
            // A renewal that a fail-over can undo must not be believed.
            return answer == Answer.DONE && known.replicas() < waitReplicas ? Answer.UNKNOWN : answer;
        }
        if (reply instanceof Long done) {
            return done == 1 ? Answer.DONE : Answer.NOT_HELD;
        }
        if (reply instanceof List<?> parts) {
            // Said again, before the answer: the message may have been lost.
            started(signals)
                    .ended(
                            grant.key(),
                            grant.token(),
                            Cause.BROKEN,
                            Notifications.broken(ScriptCodec.text(parts.get(0))));
            return Answer.NOT_HELD;
        }
        return Answer.UNKNOWN;
    }

    @Override
    public Answer release(Grant grant, Duration limit) throws Exception {
        return end(RedisScripts.RELEASE, grant, limit);
    }

    @Override
    public Answer keep(Grant grant, Duration limit) throws Exception {
        return end(RedisScripts.KEEP, grant, limit);
    }

    private Answer end(RedisScript script, Grant grant, Duration limit) throws Exception {
        byte[][] arguments = {ScriptCodec.bytes(id(grant.id())), ScriptCodec.tokenNumber(grant.token())};
        Deadline deadline = Deadline.after(limit);
        if (!brokenUnheard.remove(grant.id())) {
            leaveTombstoneIfLate(grant.id(), grant.key(), deadline);
        }
        Object reply = link.run(new RedisScript.Call(script, keys.queue(grant.key()), arguments), deadline);
        return reply instanceof Long done && done == 1 ? Answer.DONE : Answer.NOT_HELD;
    }

    @Override
    public void withdraw(Request request, Duration limit) throws Exception {
        String id = id(request.id());
        byte[][] arguments = {ScriptCodec.bytes(id), TOMBSTONE_MILLIS};
        // Whether or not the server hears of it: nobody waits for it here.
        started(notifications).waitsNoMore(request.id());
        link.run(
                new RedisScript.Call(RedisScripts.WITHDRAW, keys.all(request.key(), id), arguments),
                Deadline.after(limit));
        arrivesNoMore(request.id());
        brokenUnheard.remove(request.id());
    }

    /**
     * The sockets end their reads in time, and are closed by an interrupt; what is not: the lookup of a name for a new
     * one.
     */
    @Override
    public boolean prompt() {
        return true;
    }

    @Override
    public void forgotten(Request request) {
        brokenUnheard.remove(request.id());
        if (notifications != null) {
            waitsNoMore(request);
        }
    }

    @Override
    public Set<Feature> features() {
        return RedisGuarantees.FEATURES;
    }

    @Override
    public Guarantees guarantees() {
        return guarantees;
    }

    @Override
    public LockPage list(String prefix, Optional<String> after, int max, Duration limit) throws Exception {
        return listing.list(prefix, after, max, Deadline.after(limit));
    }

    @Override
    public Optional<LockStatus> show(LockKey key, Duration limit) throws Exception {
        return listing.show(key, Deadline.after(limit));
    }

    @Override
    public boolean breakGrant(LockKey key, long token, String reason, Duration limit) throws Exception {
        byte[][] arguments = {ScriptCodec.tokenNumber(token), ScriptCodec.bytes(reason), ScriptCodec.tokenLift(token)};
        RedisScript.Call call = new RedisScript.Call(RedisScripts.BREAK, keys.queue(key), arguments);
        return ScriptCodec.number(link.run(call, Deadline.after(limit))) == 1;
    }

    @Override
    public int availablePermits(LockKey key, int capacity, Duration limit) throws Exception {
        Object out = link.run(
                new RedisScript.Call(RedisScripts.AVAILABLE, keys.one(key), new byte[0][]), Deadline.after(limit));
        return (int) Math.max(0, capacity - ScriptCodec.number(out));
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        Leftovers leftovers = limit -> TokenFloorWriter.remove(link, prefix, Deadline.after(limit));
        return type.isInstance(leftovers) ? Optional.of(type.cast(leftovers)) : link.unwrap(type);
    }

    @Override
    public void close() {
        link.close();
    }

    /** A grant that too few replicas know of is of unknown outcome: the kit withdraws it, or asks again. */
    private Object runAcknowledged(RedisScript.Call call, Deadline deadline) throws Exception {
        RedisLink.Acknowledged result = link.runAcknowledged(call, waitReplicas, deadline);
        if (!(result.reply() instanceof List) && !isWithdrawn(result.reply()) && result.replicas() < waitReplicas) {
            throw new TooFewReplicasException(result.replicas(), waitReplicas);
        }
        return result.reply();
    }

    private String id(long request) {
        return started(idPrefix) + request;
    }

    private static <T> T started(@Nullable T part) {
        if (part == null) {
            throw new IllegalStateException("not started");
        }
        return part;
    }
}
