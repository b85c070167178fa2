// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientClosedException;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockAdmin;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockListener;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Subscription;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The client over any engine: hands out views, and knows what must be told when it closes. */
final class EngineClient implements LockClient {

    private final LockEngine engine;
    private final TimeSource time;
    private final LockUrl url;
    private final String server;
    private final Settings settings;
    private final EventDispatcher events;
    private final HeldLeases leases = new HeldLeases();
    private final PendingSet pending = new PendingSet();
    private final Map<Long, CompletableFuture<?>> questions = new ConcurrentHashMap<>();
    private final AtomicLong requestIds = new AtomicLong();
    private final ClientLog log;
    private final ClientShutdown closing;

    private EngineClient(OpenRequest request, LockEngine engine) {
        this.engine = engine;
        this.time = engine.time();
        this.url = request.url();
        this.server = url.toString();
        this.settings = Settings.of(request);
        Executor given = request.options().eventExecutor().orElse(null);
        EventThread own = given == null ? new EventThread(settings.name()) : null;
        this.events = new EventDispatcher(given != null ? given : Objects.requireNonNull(own));
        this.log = new ClientLog(settings.name(), server);
        this.closing = new ClientShutdown(this, own, request.time(), settings.closeTimeout());
    }

    static EngineClient open(OpenRequest request, LockEngine engine) {
        EngineClient client = new EngineClient(request, engine);
        engine.observe(new ConnectionEvents(client));
        return client;
    }

    @Override
    public String name() {
        return settings.name();
    }

    @Override
    public LockUrl url() {
        return url;
    }

    @Override
    public Set<Feature> features() {
        ensureOpen(null);
        return engine.features();
    }

    @Override
    public Guarantees guarantees() {
        ensureOpen(null);
        return engine.guarantees();
    }

    @Override
    public DistributedLock lock(LockName name) {
        ensureOpen(name);
        return new LockView(this, LockKey.lock(name), LockMode.EXCLUSIVE, settings.lockDefaults());
    }

    @Override
    public DistributedReadWriteLock readWriteLock(LockName name) {
        ensureOpen(name);
        require(Feature.READ_WRITE);
        DistributedLock read = new LockView(this, LockKey.lock(name), LockMode.SHARED, settings.lockDefaults());
        return new ReadWriteView(read, lock(name), new ModeChange(this, LockKey.lock(name)));
    }

    @Override
    public DistributedSemaphore semaphore(LockName name, Capacity capacity) {
        Objects.requireNonNull(capacity, "capacity");
        ensureOpen(name);
        require(Feature.SEMAPHORE);
        return new SemaphoreView(this, LockKey.semaphore(name), capacity, settings.lockDefaults());
    }

    @Override
    public LockAdmin admin() {
        ensureOpen(null);
        return new AdminView(this);
    }

    @Override
    public Subscription addListener(LockListener listener) {
        Objects.requireNonNull(listener, "listener");
        ensureOpen(null);
        return events.add(listener);
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        ensureOpen(null);
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        if (type.isInstance(engine)) {
            return type.cast(engine);
        }
        return engine.unwrap(type)
                .orElseThrow(() -> new IllegalArgumentException(server + " has nothing of type " + type.getName()));
    }

    @Override
    public void close() {
        closing.close();
    }

    boolean closed() {
        return closing.begun();
    }

    void ensureOpen(@Nullable LockName name) {
        if (closing.begun()) {
            throw new ClientClosedException(settings.name(), name);
        }
    }

    LockEngine engine() {
        return engine;
    }

    TimeSource time() {
        return time;
    }

    EventDispatcher events() {
        return events;
    }

    HeldLeases leases() {
        return leases;
    }

    ClientLog log() {
        return log;
    }

    PendingSet pending() {
        return pending;
    }

    /** The URL, masked: what messages call the other side. */
    String server() {
        return server;
    }

    Duration requestTimeout() {
        return settings.requestTimeout();
    }

    long nextRequestId() {
        return requestIds.incrementAndGet();
    }

    ResolvedOptions terms(LockOptions options) {
        if (options.holdAtLeast().isPresent()) {
            require(Feature.HOLD_AT_LEAST);
        }
        return ResolvedOptions.of(
                options, settings.ttl(), settings.name(), engine.guarantees(), engine.longestHoldAtLeast());
    }

    void tell(LockEvent.Type type, @Nullable LockKey key, OptionalLong token, Optional<String> from, long afterNanos) {
        events.emit(new LockEvent(type, key, token, from, Duration.ofNanos(Math.max(0, afterNanos))));
    }

    /** A part of a sentence, for a store that has said nothing; empty unless it was never connected to. */
    String unconnected() {
        return engine instanceof StoreEngine store && !store.connected()
                ? ": it is still being connected to, which may take " + ResolvedOptions.text(settings.connectTimeout())
                        + " (connectTimeout)"
                : "";
    }

    LockUnavailableException noAnswer(String what, @Nullable LockName name) {
        return new LockUnavailableException(
                "No answer about " + what + " within " + ResolvedOptions.text(settings.requestTimeout()) + " from "
                        + server + unconnected() + ". Try again, or raise requestTimeout.",
                name,
                server,
                null);
    }

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
        if (closing.done()) {
            closeQuestions();
        }
        TimeSource.Scheduled timer = null;
        if (!answer.isDone()) {
            long limit = time.nanoTime() + settings.requestTimeout().toNanos();
            timer = time.at(limit, () -> answer.completeExceptionally(late.get()));
        }
        try {
            return time.await(answer);
        } catch (ExecutionException e) {
            if (closing.begun()) {
                // Whatever its end was called: the client was closed while it waited.
                throw new ClientClosedException(settings.name(), null);
            }
            throw Failures.rethrow(e.getCause());
        } finally {
            questions.remove(question);
            if (timer != null) {
                timer.cancel();
            }
        }
    }

    /** The engine is closed: what it did not answer yet it never will. */
    void closeQuestions() {
        for (CompletableFuture<?> answer : questions.values()) {
            answer.completeExceptionally(new ClientClosedException(settings.name(), null));
        }
    }

    private void require(Feature feature) {
        if (!engine.features().contains(feature)) {
            throw new UnsupportedFeatureException(feature, server);
        }
    }

    @Override
    public String toString() {
        return "LockClient[" + settings.name() + ", " + server + "]";
    }
}
