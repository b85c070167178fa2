// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

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
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TokenFloor;
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

    private static final RedisScript ATTEMPT = RedisScript.read("attempt", "attempt-free", "common");
    /** For a request that asks for more than its capacity: what nobody holds is not free for it. */
    private static final RedisScript ATTEMPT_BEYOND = RedisScript.read("attempt", "common");

    private static final RedisScript CONVERT = RedisScript.read("convert", "common");
    private static final RedisScript RENEW = RedisScript.read("renew").asUrgent();
    private static final RedisScript RELEASE =
            RedisScript.read("release", "release-plain", "common").asUrgent();
    private static final RedisScript KEEP = RedisScript.read("keep", "common").asUrgent();
    private static final RedisScript WITHDRAW =
            RedisScript.read("withdraw", "common").asUrgent();
    private static final RedisScript BURY = RedisScript.read("bury").asUrgent();
    private static final RedisScript BREAK = RedisScript.read("break", "common");
    private static final RedisScript AVAILABLE = RedisScript.read("available", "common");

    private static final byte[] AT_ONCE = {};

    /** What attempt.lua says of a request whose grant was broken. */
    private static final long BROKEN = -2;

    private static final byte[] WITHDRAWN = RedisKeys.bytes("withdrawn");

    private static final byte[] TOMBSTONE_MILLIS = Protocol.toByteArray(LateAttempts.UNDER_WAY.toMillis());

    private final RedisLink link;
    private final RedisSettings settings;
    private final RedisKeys keys;
    private final Guarantees guarantees;
    private final Listing listing;
    private final ServerCheck check;
    private final Optional<TokenFloorWriter> floor;
    private final Tokens tokens = new Tokens();
    private final RequestArguments words = new RequestArguments(tokens);

    /** Requests of which the next attempt follows the release of what was broken: they go on. */
    private final Set<Long> brokenUnheard = ConcurrentHashMap.newKeySet();

    private final LateAttempts lateAttempts = new LateAttempts(System.nanoTime());

    private volatile @Nullable String idPrefix;
    private volatile @Nullable Signals signals;
    private volatile @Nullable Notifications messages;

    RedisBackend(RedisLink link, RedisSettings settings, Guarantees guarantees, ServerCheck check) {
        this(link, settings, guarantees, check, Optional.empty());
    }

    RedisBackend(
            RedisLink link,
            RedisSettings settings,
            Guarantees guarantees,
            ServerCheck check,
            Optional<TokenFloor> floor) {
        this.floor = floor.map(asked -> new TokenFloorWriter(link, settings, asked));
        this.link = link;
        this.check = check;
        this.settings = settings;
        this.guarantees = guarantees;
        this.keys = new RedisKeys(link, settings.prefix());
        this.listing = new Listing(link, keys);
    }

    @Override
    public void start(Signals told, Incarnation client) throws Exception {
        Deadline deadline = Deadline.after(settings.connectTimeout());
        try {
            link.start(told, deadline);
        } catch (NotExecutedException e) {
            throw ServerCheck.isRefusal(e) ? check.refused(e) : e;
        }
        RedisLink.Slots slots = null;
        try {
            link.visitAll(check.with(keys.channel(client)), deadline);
            slots = check.allHaveShardedMessages() ? link.slots() : null;
        } catch (NotExecutedException | JedisException e) {
            LOG.info("Not all servers could be looked at: {}", e.getMessage());
        }
        if (floor.isPresent()) {
            floor.get().give(tokens, deadline);
        }
        signals = told;
        idPrefix = client + ":";
        // What is granted unasked cannot be acknowledged by replicas.
        messages = new Notifications(link, keys, told, client, slots, settings.waitReplicas() == 0, tokens);
    }

    @Override
    public Attempt attempt(Request request, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        started(messages).begin(deadline);
        String id = id(request.id());
        long askedAt = System.nanoTime();
        byte[][] arguments = words.withOptional(
                request,
                RedisKeys.bytes(id),
                RequestArguments.millis(request.ttl()),
                words.what(request),
                Protocol.toByteArray(request.capacity()),
                queueing(request, askedAt));
        RedisScript script = request.permits() <= request.capacity() ? ATTEMPT : ATTEMPT_BEYOND;
        return taken(request, new ScriptCall(script, keys.all(request.key(), id), arguments), askedAt, deadline);
    }

    @Override
    public Attempt convert(Grant held, Request wanted, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        String id = id(wanted.id());
        long askedAt = System.nanoTime();
        byte[][] arguments = words.withOptional(
                wanted,
                RedisKeys.bytes(id),
                RequestArguments.millis(wanted.ttl()),
                words.what(wanted),
                RedisKeys.bytes(id(held.id())),
                Tokens.counted(held.token()),
                queueing(wanted, askedAt));
        return taken(wanted, new ScriptCall(CONVERT, keys.all(wanted.key(), id), arguments), askedAt, deadline);
    }

    private byte[] queueing(Request request, long askedAt) {
        if (!request.queue()) {
            return AT_ONCE;
        }
        // Whoever waits may have died: what he never hears of must not be kept for him. A late attempt must find no
        // grant.
        boolean takesGrants = request.holdAtLeast().isZero() && !lateAttempts.contains(request.id());
        return started(messages).queueing(askedAt, takesGrants);
    }

    private Attempt taken(Request request, ScriptCall call, long askedAt, Deadline deadline) throws Exception {
        Notifications listener = started(messages);
        long hearing = listener.hearing();
        listener.asks(request);
        Object reply = asked(request, call, deadline);
        if (isWithdrawn(reply)) {
            throw new NotExecutedException("request " + request.id() + " was withdrawn");
        }
        if (!(reply instanceof List)) {
            listener.waitsNoMore(request.id());
            return new Attempt.Granted(Notifications.grant(request, tokens.of(reply)));
        }
        List<?> said = Replies.list(reply);
        long millis = Replies.number(said.get(0));
        if (millis == BROKEN) {
            listener.waitsNoMore(request.id());
            brokenUnheard.add(request.id());
            Grant broken = Notifications.grant(request, tokens.told(Replies.text(said.get(1))));
            return new Attempt.Waiting(request.ttl().dividedBy(4), OptionalInt.empty(), List.of(), Optional.of(broken));
        }
        List<Owner> holders = Replies.owners(said);
        if (millis < 0) {
            listener.waitsNoMore(request.id());
            return new Attempt.Refused(holders);
        }
        Duration within = Duration.ofMillis(millis);
        if (request.queue()) {
            listener.waits(request, askedAt);
            boolean heard = hearing != 0 && hearing == listener.hearing();
            if (!heard && within.compareTo(listener.deaf()) > 0) {
                within = listener.deaf();
            }
        }
        if (!request.queue()) {
            buryIfLate(request.id(), request.key(), deadline);
        }
        return new Attempt.Waiting(within, OptionalInt.of((int) Replies.number(said.get(1))), holders);
    }

    private Object asked(Request request, ScriptCall call, Deadline deadline) throws Exception {
        try {
            return settings.waitReplicas() == 0 ? link.run(call, deadline) : runAcknowledged(call, deadline);
        } catch (NotExecutedException e) {
            throw e;
        } catch (Exception e) {
            lateAttempts.add(request.id(), System.nanoTime());
            throw e;
        }
    }

    private static boolean isWithdrawn(Object reply) {
        return reply instanceof byte[] word && Arrays.equals(word, WITHDRAWN);
    }

    /** The request is about to be over: an attempt of it that is still under way must not grant what nobody releases. */
    private void buryIfLate(long request, LockKey key, Deadline deadline) throws Exception {
        if (lateAttempts.contains(request)) {
            link.run(new ScriptCall(BURY, keys.tombstone(key, id(request)), new byte[][] {TOMBSTONE_MILLIS}), deadline);
            lateAttempts.remove(request);
        }
    }

    @Override
    public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
        List<ScriptCall> calls = new ArrayList<>(grants.size());
        for (Grant grant : grants) {
            byte[][] arguments = {
                RedisKeys.bytes(id(grant.id())), Tokens.counted(grant.token()), RequestArguments.millis(grant.ttl())
            };
            calls.add(new ScriptCall(RENEW, keys.one(grant.key()), arguments));
        }
        List<Object> replies = link.runAll(calls, settings.waitReplicas(), Deadline.after(limit));
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
            return answer == Answer.DONE && known.replicas() < settings.waitReplicas() ? Answer.UNKNOWN : answer;
        }
        if (reply instanceof Long done) {
            return done == 1 ? Answer.DONE : Answer.NOT_HELD;
        }
        if (reply instanceof List<?> said) {
            // Said again, before the answer: the message may have been lost.
            started(signals)
                    .ended(grant.key(), grant.token(), Cause.BROKEN, Notifications.broken(Replies.text(said.get(0))));
            return Answer.NOT_HELD;
        }
        return Answer.UNKNOWN;
    }

    @Override
    public Answer release(Grant grant, Duration limit) throws Exception {
        return end(RELEASE, grant, limit);
    }

    @Override
    public Answer keep(Grant grant, Duration limit) throws Exception {
        return end(KEEP, grant, limit);
    }

    private Answer end(RedisScript script, Grant grant, Duration limit) throws Exception {
        byte[][] arguments = {RedisKeys.bytes(id(grant.id())), Tokens.counted(grant.token())};
        Deadline deadline = Deadline.after(limit);
        if (!brokenUnheard.remove(grant.id())) {
            buryIfLate(grant.id(), grant.key(), deadline);
        }
        Object reply = link.run(new ScriptCall(script, keys.line(grant.key()), arguments), deadline);
        return Replies.number(reply) == 1 ? Answer.DONE : Answer.NOT_HELD;
    }

    @Override
    public void withdraw(Request request, Duration limit) throws Exception {
        String id = id(request.id());
        byte[][] arguments = {RedisKeys.bytes(id), TOMBSTONE_MILLIS};
        // Whether or not the server hears of it: nobody waits for it here.
        started(messages).waitsNoMore(request.id());
        link.run(new ScriptCall(WITHDRAW, keys.all(request.key(), id), arguments), Deadline.after(limit));
        lateAttempts.remove(request.id());
        brokenUnheard.remove(request.id());
    }

    /** The sockets end their reads in time, and are closed by an interrupt; what is not: the lookup of a name for a new one. */
    @Override
    public boolean prompt() {
        return true;
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
        byte[][] arguments = {Tokens.counted(token), RedisKeys.bytes(reason), Tokens.lift(token)};
        return Replies.number(link.run(new ScriptCall(BREAK, keys.line(key), arguments), Deadline.after(limit))) == 1;
    }

    @Override
    public int availablePermits(LockKey key, int capacity, Duration limit) throws Exception {
        Object out = link.run(new ScriptCall(AVAILABLE, keys.one(key), new byte[0][]), Deadline.after(limit));
        return (int) Math.max(0, capacity - Replies.number(out));
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return link.unwrap(type);
    }

    @Override
    public void close() {
        link.close();
    }

    /** A grant that too few replicas know of is of unknown outcome: the kit withdraws it, or asks again. */
    private Object runAcknowledged(ScriptCall call, Deadline deadline) throws Exception {
        RedisLink.Acknowledged result = link.runAcknowledged(call, settings.waitReplicas(), deadline);
        if (!(result.reply() instanceof List)
                && !isWithdrawn(result.reply())
                && result.replicas() < settings.waitReplicas()) {
            throw new TooFewReplicasException(result.replicas(), settings.waitReplicas());
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
