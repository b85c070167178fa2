// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.LockEngine;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One grant of a store, as its lease sees it. */
final class StoreHold implements LockEngine.Hold {

    private final StoreEngine engine;
    private final Grant grant;
    private final CompletableFuture<Answer> released = new CompletableFuture<>();
    private volatile long deadline;
    private volatile @Nullable StoreHold successor;

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
        return release(engine::release);
    }

    @Override
    public CompletionStage<Answer> releaseWaiting(long token) {
        return release(engine::releaseWaiting);
    }

    @Override
    public CompletionStage<Answer> abandon(long token) {
        return release(engine::abandon);
    }

    private CompletionStage<Answer> release(Consumer<StoreHold> way) {
        StoreHold next = successor;
        if (next != null) {
            // Whoever gives this back did not see it change: it is the same place at the store.
            return next.release(way);
        }
        if (!released.isDone()) {
            way.accept(this);
        }
        return released.minimalCompletionStage();
    }

    @Override
    public void lapsed(long token) {
        StoreHold next = successor;
        if (next == null) {
            engine.lapsed(this);
        } else {
            next.lapsed(next.grant.token());
        }
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

    /** The grant has become another one. */
    void becomes(StoreHold next) {
        successor = next;
    }

    /** Nothing of the grant is left. */
    void gone() {
        if (successor == null) {
            released.complete(Answer.NOT_HELD);
        }
    }

    /** A release came too late for the grant: it ends what that has become. */
    void releasedLate() {
        StoreHold next = successor;
        if (next == null) {
            released.complete(Answer.NOT_HELD);
        } else {
            CompletionStage<Answer> answer = next.release(next.grant.token());
            answer.whenComplete((said, failure) -> released.complete(failure == null ? said : Answer.UNKNOWN));
        }
    }

    /** As {@link #releasedLate}: that its owner saw the deadline pass came too late for the grant. */
    void lapsedLate() {
        if (successor != null) {
            lapsed(grant.token());
        }
    }

    void answer(Answer answer) {
        released.complete(answer);
    }
}
