// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.trace;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Probe;
import io.keyway.lock.spi.RaisingEngine;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** An engine, and a log of what its users ask and are told: who believes, from when, until when. */
public final class TracedEngine implements RaisingEngine {
    private final RaisingEngine engine;
    private final TraceLog log;
    private final Runnable whenClosed;

    /** @param whenClosed run when the engine has been closed */
    public TracedEngine(RaisingEngine engine, TraceLog log, Runnable whenClosed) {
        this.engine = engine;
        this.log = log;
        this.whenClosed = whenClosed;
    }

    /** Where one request is told what becomes of it. */
    private final class Told implements Sink {
        final Sink to;
        final String lock;
        final String what;
        /** The bar of the grant that this one is to take the place of; empty if there is none. */
        final String replaces;

        private volatile long held;

        Told(Sink to, LockKey key, LockMode mode, int permits) {
            this(to, key, mode, permits, "");
        }

        Told(Sink to, LockKey key, LockMode mode, int permits, String replaces) {
            this.to = to;
            this.replaces = replaces;
            this.lock = TraceLog.shown(key.name().toString());
            this.what = mode == LockMode.PERMITS
                    ? permits + (permits == 1 ? " permit" : " permits")
                    : mode.name().toLowerCase(Locale.ROOT);
        }

        void here(String text) {
            log.here(lock, text);
        }

        String bar(long token) {
            return token + " " + lock;
        }

        void stops(long token, String why) {
            here(why);
            log.ends(bar(token));
        }

        @Override
        public void waiting(OptionalInt ahead, List<Owner> holders) {
            here("told: waits for " + lock + (ahead.isPresent() ? ", " + ahead.getAsInt() + " ahead" : ""));
            to.waiting(ahead, holders);
        }

        @Override
        public void closed(String why) {
            here("told: nobody is granted " + lock + " now: " + why);
            to.closed(why);
        }

        @Override
        public void refused(List<Owner> holders) {
            here("told: " + lock + " is another's");
            to.refused(holders);
        }

        @Override
        public void granted(Hold hold, long token) {
            here("told: granted " + lock + ", token " + token);
            held = token;
            log.ends(replaces);
            log.begins(bar(token), "belief\t" + lock + '\t' + token + '\t' + what);
            to.granted(new TracedHold(hold, this), token);
        }

        @Override
        public void doubt(String why) {
            here("told: in doubt about " + lock + ": " + why);
            to.doubt(why);
        }

        @Override
        public void certain() {
            here("told: certain of " + lock);
            to.certain();
        }

        @Override
        public void ended(LeaseLoss.Cause cause, String detail) {
            here("told: lost " + lock + ", " + cause + ": " + detail);
            log.ends(bar(held));
            to.ended(cause, detail);
        }

        @Override
        public void failed(LockException e) {
            here("told: " + lock + " cannot be served: " + e.getMessage());
            to.failed(e);
        }
    }

    /** What a lease stands on, and the log of its end. */
    private record TracedHold(Hold hold, Told of) implements Hold {
        @Override
        public Duration ttl() {
            return hold.ttl();
        }

        @Override
        public long deadlineNanos() {
            return hold.deadlineNanos();
        }

        @Override
        public CompletionStage<Answer> release(long token) {
            of.stops(token, "releases " + of.lock);
            return hold.release(token);
        }

        @Override
        public CompletionStage<Answer> abandon(long token) {
            of.stops(token, "does not take " + of.lock);
            return hold.abandon(token);
        }

        @Override
        public CompletionStage<Answer> releaseWaiting(long token) {
            of.stops(token, "releases " + of.lock);
            return hold.releaseWaiting(token);
        }

        @Override
        public void lapsed(long token) {
            of.stops(token, "believes no longer in " + of.lock);
            hold.lapsed(token);
        }

        @Override
        public Optional<String> server() {
            return hold.server();
        }

        @Override
        public OptionalInt permitsOut() {
            return hold.permitsOut();
        }
    }

    private Told asks(Request request, Sink sink, String how) {
        return asks(request, sink, how, "");
    }

    private Told asks(Request request, Sink sink, String how, String replaces) {
        Told told = new Told(sink, request.key(), request.mode(), request.permits(), replaces);
        told.here("asks for " + told.lock + ", " + told.what + how);
        return told;
    }

    @Override
    public TimeSource time() {
        return engine.time();
    }

    @Override
    public void submit(Request request, Sink sink) {
        engine.submit(request, asks(request, sink, request.queue() ? "" : ", now or never"));
    }

    @Override
    public void submitWaiting(Request request, Sink sink) {
        engine.submitWaiting(request, asks(request, sink, request.queue() ? "" : ", now or never"));
    }

    @Override
    public boolean reacquire(
            LockKey key,
            LockMode mode,
            int permits,
            int capacity,
            Duration ttl,
            Map<String, String> metadata,
            Sink sink) {
        return engine.reacquire(key, mode, permits, capacity, ttl, metadata, new Told(sink, key, mode, permits));
    }

    @Override
    public void convert(Hold held, long token, Request wanted, Sink sink) {
        if (held instanceof TracedHold traced) {
            Told told = asks(
                    wanted, sink, ", in place of token " + token, traced.of().bar(token));
            engine.convert(traced.hold(), token, wanted, told);
        } else {
            engine.convert(held, token, wanted, sink);
        }
    }

    @Override
    public boolean locksTrees() {
        return engine.locksTrees();
    }

    @Override
    public void probe(LockKey key, long request, Probe probe) {
        boolean surrendered = probe.kind() == Probe.Kind.SURRENDERED;
        if (probe.step() == 0 && (surrendered || probe.kind() == Probe.Kind.ABORTED)) {
            String lock = TraceLog.shown(
                    probe.path().get(probe.path().size() - 1).lock().toString());
            log.here(
                    lock,
                    (surrendered ? "gives way, and surrenders " : "gives way, and is aborted with ") + lock + ": "
                            + FrameText.of(probe));
        }
        engine.probe(key, request, probe);
    }

    @Override
    public void withdraw(Request request) {
        givesUp(request);
        engine.withdraw(request);
    }

    @Override
    public void withdraw(Hold held, Request wanted) {
        givesUp(wanted);
        engine.withdraw(held instanceof TracedHold traced ? traced.hold() : held, wanted);
    }

    private void givesUp(Request request) {
        log.here(
                TraceLog.shown(request.key().name().toString()),
                "gives up on " + request.key().name());
    }

    @Override
    public void observe(Observer observer) {
        engine.observe(observer);
    }

    @Override
    public Set<Feature> features() {
        return engine.features();
    }

    @Override
    public Guarantees guarantees() {
        return engine.guarantees();
    }

    @Override
    public Duration longestHoldAtLeast() {
        return engine.longestHoldAtLeast();
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, Optional<String> after, int max, Duration limit) {
        return engine.list(prefix, after, max, limit);
    }

    @Override
    public CompletionStage<Optional<LockStatus>> show(LockKey key, Duration limit) {
        return engine.show(key, limit);
    }

    @Override
    public Optional<CompletionStage<Long>> change(LockKey key, long known, Duration limit) {
        return engine.change(key, known, limit);
    }

    @Override
    public CompletionStage<Boolean> breakGrant(LockKey key, long token, String reason, Duration limit) {
        return engine.breakGrant(key, token, reason, limit);
    }

    @Override
    public CompletionStage<Boolean> raise(LockKey key, Hold hold, long token, long least, Duration limit) {
        String lock = TraceLog.shown(key.name().toString());
        log.here(lock, "has the tokens of " + lock + " rise above " + least);
        return engine.raise(key, ((TracedHold) hold).hold(), token, least, limit);
    }

    @Override
    public CompletionStage<Integer> availablePermits(LockKey key, int capacity, Duration limit) {
        return engine.availablePermits(key, capacity, limit);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return type.isInstance(engine) ? Optional.of(type.cast(engine)) : engine.unwrap(type);
    }

    @Override
    public void close() {
        try {
            engine.close();
        } finally {
            whenClosed.run();
        }
    }
}
