// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockEngine;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** One grant of a store, as its lease sees it. */
final class StoreHold implements LockEngine.Hold {

    private final StoreEngine engine;
    private final Grant grant;
    private final CompletableFuture<Answer> released = new CompletableFuture<>();
    private volatile long deadline;

    StoreHold(StoreEngine engine, Grant grant, long deadline) {
        this.engine = engine;
        this.grant = grant;
        this.deadline = deadline;
    }

    @Override
    public Duration ttl() {
        return grant.ttl();
    }

    @Override
    public long deadlineNanos() {
        return deadline;
    }

    @Override
    public CompletionStage<Answer> release(long token) {
        if (!released.isDone()) {
            engine.release(this);
        }
        return released.minimalCompletionStage();
    }

    @Override
    public void lapsed(long token) {
        engine.release(this);
    }

    @Override
    public Optional<String> server() {
        return Optional.of(engine.server());
    }

    long id() {
        return grant.id();
    }

    void extend(long deadlineNanos) {
        deadline = deadlineNanos;
    }

    void answer(Answer answer) {
        released.complete(answer);
    }
}
