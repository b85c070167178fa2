// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.spi.TimeSource;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** One thread of Netty's, with sockets of Netty's. */
record EventLoopExecutor(EventLoop loop) implements CellExecutor {
    @Override
    public void execute(Runnable task) {
        loop.execute(task);
    }

    @Override
    public void leave(Runnable task) {
        loop.execute(task);
    }

    @Override
    public TimeSource.Scheduled after(long nanos, Runnable task) {
        Future<?> due = loop.schedule(task, nanos, TimeUnit.NANOSECONDS);
        return () -> due.cancel(false);
    }
}
