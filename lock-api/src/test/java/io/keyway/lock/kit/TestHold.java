// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.LockEngine;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

/** A grant of which no engine knows; it writes down by which tokens it is released. */
final class TestHold implements LockEngine.Hold {
    final List<Long> released = new CopyOnWriteArrayList<>();
    private final Duration ttl;
    private final LongSupplier deadline;

    TestHold(Duration ttl, LongSupplier deadline) {
        this.ttl = ttl;
        this.deadline = deadline;
    }

    @Override
    public Duration ttl() {
        return ttl;
    }

    @Override
    public long deadlineNanos() {
        return deadline.getAsLong();
    }

    @Override
    public CompletionStage<Answer> release(long token) {
        released.add(token);
        return CompletableFuture.completedStage(Answer.DONE);
    }

    @Override
    public void lapsed(long token) {}

    @Override
    public Optional<String> server() {
        return Optional.empty();
    }
}
