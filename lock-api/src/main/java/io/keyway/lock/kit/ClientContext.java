// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Feature;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockListener;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Subscription;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What the views, requests and leases of one client stand on. */
final class ClientContext {

    private final LockEngine engine;
    private final TimeSource time;
    private final boolean manualTime;
    private final String server;
    private final Settings settings;
    private final Duration requestTimeout;
    private final EventDispatcher events;
    private final ClientLog log;
    private final Registry pending = new Registry();
    private final Registry leases = new Registry();
    private final Transactions transactions = new Transactions();
    private final AgentAlarms alarms;
    private final Map<Long, CompletableFuture<?>> questions = new ConcurrentHashMap<>();
    private final AtomicLong requestIds = new AtomicLong();

    private volatile @Nullable ResolvedOptions plainOptions;

    /** The engine, if it is over a store. */
    private final @Nullable StoreEngine store;

    /** Listeners are there, or were: until then no event has to be made. */
    private volatile boolean listened;

    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean engineClosed;

    ClientContext(LockEngine engine, Settings settings, EventDispatcher events) {
        this.engine = engine;
        this.time = engine.time();
        this.alarms = new AgentAlarms(time);
        this.manualTime = time.manual();
        this.server = settings.url().toString();
        this.settings = settings;
        this.requestTimeout = settings.requestTimeout();
        this.events = events;
        this.log = new ClientLog(settings.name(), server);
        this.store = engine instanceof StoreEngine overStore ? overStore : null;
    }

    String name() {
        return settings.name();
    }

    LockEngine engine() {
        return engine;
    }

    TimeSource time() {
        return time;
    }

    /** Whether a test moves the time: then nobody but its timers sees for itself that its time is up. */
    boolean manualTime() {
        return manualTime;
    }

    EventDispatcher events() {
        return events;
    }

    ClientLog log() {
        return log;
    }

    /** A request was answered. */
    void answered() {
        if (log.silent) {
            log.answered(time);
        }
    }

    /** The requests that wait. */
    Registry pending() {
        return pending;
    }

    /** The leases that have not ended, and those that have to be given back still. */
    Registry leases() {
        return leases;
    }

    /** The transactions that wait for something or hold it. */
    Transactions transactions() {
        return transactions;
    }

    /** Those of the transactions. */
    AgentAlarms alarms() {
        return alarms;
    }

    /** The URL, masked: what messages call the other side. */
    String server() {
        return server;
    }

    Duration requestTimeout() {
        return requestTimeout;
    }

    long nextRequestId() {
        return requestIds.incrementAndGet();
    }

    /** Whether the engine may know of a grant without asking anybody: that over a store never does. */
    boolean mayReacquire() {
        return store == null;
    }

    /** The options of one view, over those of the client. Views without options of their own share theirs. */
    ResolvedOptions resolve(LockOptions options) {
        ResolvedOptions known = plainOptions;
        boolean plain = options.equals(settings.options().lockDefaults());
        if (plain && known != null) {
            return known;
        }
        if (options.holdAtLeast().isPresent()) {
            require(Feature.HOLD_AT_LEAST);
        }
        ResolvedOptions resolved = ResolvedOptions.of(
                options, settings.ttl(), settings.name(), engine.guarantees(), engine.longestHoldAtLeast());
        if (plain) {
            plainOptions = resolved;
        }
        return resolved;
    }

    void require(Feature feature) {
        if (!engine.features().contains(feature)) {
            throw new UnsupportedFeatureException(feature, server);
        }
    }

    Subscription addListener(LockListener listener) {
        listened = true;
        return events.add(listener);
    }

    /** Whether an event may reach anybody. */
    boolean listened() {
        return listened;
    }

    void tell(LockEvent.Type type, @Nullable LockKey key, OptionalLong token, Optional<String> from, long afterNanos) {
        events.emit(new LockEvent(type, key, token, from, Duration.ofNanos(Math.max(0, afterNanos))));
    }

    // Questions to the engine.

    /** Waits for an answer of the engine, at most the request timeout on the engine's clock. */
    <T> T await(CompletionStage<T> stage, Supplier<LockException> late) throws InterruptedException {
        CompletableFuture<T> answer = new CompletableFuture<>();
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                answer.complete(value);
            } else {
                LockException known = Failures.lockException(failure);
                answer.completeExceptionally(known == null ? failure : known);
            }
        });
        long question = nextRequestId();
        questions.put(question, answer);
        if (engineClosed) {
            endQuestions();
        }
        try {
            return time.await(answer, time.nanoTime() + requestTimeout.toNanos());
        } catch (ExecutionException e) {
            throw ended(Failures.rethrow(e.getCause()));
        } catch (TimeoutException e) {
            throw ended(late.get());
        } finally {
            questions.remove(question);
        }
    }

    /** Whatever its end was called: the client was closed while it waited. */
    private RuntimeException ended(RuntimeException failure) {
        return closed() ? new ClientClosedException(settings.name(), null) : failure;
    }

    LockUnavailableException noAnswer(String what, @Nullable LockName name) {
        return new LockUnavailableException(
                "No answer about " + what + " within " + ResolvedOptions.text(requestTimeout) + " from " + server
                        + unconnected() + ". Try again, or raise requestTimeout.",
                name,
                server,
                null);
    }

    /** A part of a sentence, for a store that has said nothing; empty unless it was never connected to. */
    String unconnected() {
        return store != null && !store.connected()
                ? ": it is still being connected to, which may take " + ResolvedOptions.text(settings.connectTimeout())
                        + " (connectTimeout)"
                : "";
    }

    // The end of the client.

    void ensureOpen(@Nullable LockName name) {
        if (closed()) {
            throw new ClientClosedException(settings.name(), name);
        }
    }

    boolean closed() {
        return closing.get();
    }

    /** True for the one caller who is to close the client. */
    boolean beginClose() {
        return closing.compareAndSet(false, true);
    }

    /** The engine is closed: what it did not answer yet it never will. */
    void engineClosed() {
        engineClosed = true;
    }

    void endQuestions() {
        for (CompletableFuture<?> answer : questions.values()) {
            answer.completeExceptionally(new ClientClosedException(settings.name(), null));
        }
    }
}
