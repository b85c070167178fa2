// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.engine;

import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.trace.TraceLog;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.TimeSource;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A client's cells, wherever they run. */
public interface ClientRuntime extends ClientCell {
    /**
     * As {@link #post}, for what is of no interest to a client that has not asked for anything: it starts and opens
     * nothing, and does not throw.
     */
    default void tell(Input input) {
        post(input);
    }

    /** Runs the task after that many nanoseconds, where notices are told: with none at the same time. */
    void after(long nanos, Runnable task);

    /** The clock of the cell, with timers. */
    TimeSource time();

    /** Who is told when the session's connection stands or breaks. */
    void observe(LockEngine.Observer observer);

    /**
     * Completed when a member has answered for the first time; empty where only an answer to a question shows that.
     * Asking makes the client connect.
     */
    default Optional<CompletionStage<Void>> greeted() {
        return Optional.empty();
    }

    /** Writes down what its cells are given and give. Before anything is asked of it. */
    default void trace(TraceLog log) {}

    /** The provider's own objects, such as a {@code MemoryWorld}. */
    default <T> Optional<T> unwrap(Class<T> type) {
        return Optional.empty();
    }

    /** Lets the cell say goodbye, then ends its thread; bounded. Idempotent. */
    void close();
}
