// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One event loop with its one thread, owned by whoever made it. */
public final class EventThread implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 5;

    // Without a group: one that ends would leave a thread of Netty's own behind for a second.
    private final SingleThreadIoEventLoop loop;
    private volatile @Nullable Thread thread;

    /** @param name of the thread */
    public EventThread(String name) {
        ThreadFactory threads = new DefaultThreadFactory(name, true);
        ThreadFactory known = task -> started(threads.newThread(task));
        this.loop = new SingleThreadIoEventLoop(null, known, NioIoHandler.newFactory());
    }

    private Thread started(Thread made) {
        thread = made;
        return made;
    }

    public EventLoop loop() {
        return loop;
    }

    /** Runs the task on the loop and waits for it. Not on the loop's thread. */
    public void run(Runnable task) {
        loop.submit(task).syncUninterruptibly();
    }

    /** Ends the thread and waits for it, at most some seconds; an interrupt is kept for later. */
    @Override
    public void close() {
        loop.shutdownGracefully(0, PATIENCE_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly(PATIENCE_SECONDS, TimeUnit.SECONDS);
        Thread ending = thread;
        boolean interrupted = false;
        while (ending != null && ending != Thread.currentThread()) {
            try {
                ending.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS)); // Netty says so before it has ended
                ending = null;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
