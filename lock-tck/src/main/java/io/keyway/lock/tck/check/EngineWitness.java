// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Stands between a client and the engine of its provider, and listens to what the engine tells each sink. */
final class EngineWitness implements LockEngine {
    private final LockEngine engine;
    private final Consumer<String> report;

    /** {@code report} hears what the rule LK-1508 forbids, by whichever thread. */
    EngineWitness(LockEngine engine, Consumer<String> report) {
        this.engine = engine;
        this.report = report;
    }

    private Sink heard(Sink sink, @Nullable Request request) {
        return new SinkWitness(sink, request, report);
    }

    @Override
    public TimeSource time() {
        return engine.time();
    }

    @Override
    public void submit(Request request, Sink sink) {
        engine.submit(request, heard(sink, request));
    }

    @Override
    public void submitWaiting(Request request, Sink sink) {
        engine.submitWaiting(request, heard(sink, request));
    }

    @Override
    public boolean reacquire(
            LockKey key, LockMode mode, int permits, Duration ttl, Map<String, String> metadata, Sink sink) {
        return engine.reacquire(key, mode, permits, ttl, metadata, heard(sink, null));
    }

    @Override
    public void convert(Hold held, long token, Request wanted, Sink sink) {
        engine.convert(held, token, wanted, heard(sink, wanted));
    }

    @Override
    public void withdraw(Request request) {
        engine.withdraw(request);
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
    public CompletionStage<Boolean> breakGrant(LockKey key, long token, String reason, Duration limit) {
        return engine.breakGrant(key, token, reason, limit);
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
        engine.close();
    }
}
