// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.spi.TimeSource;
import java.util.concurrent.Executor;

/**
 * Where the turns of cells run: one task at a time, in the order in which they were given, each seeing what the ones
 * before have done. That need not be one thread.
 *
 * <p>A task that is given by another one runs after it. {@link #execute} is for any thread, and throws
 * {@link java.util.concurrent.RejectedExecutionException} once the end has come.
 */
public interface CellExecutor extends Executor {
    /** Has the task run after that many nanoseconds. Of the tasks only. */
    TimeSource.Scheduled after(long nanos, Runnable task);

    /** As {@link #execute}, by a thread that never runs the task itself: it has others to serve. */
    void leave(Runnable task);
}
