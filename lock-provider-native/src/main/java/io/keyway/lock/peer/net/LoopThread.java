// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SelectStrategy;
import io.netty.channel.SelectStrategyFactory;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.IntSupplier;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One event loop with its one thread, owned by whoever made it. Nothing is opened before {@link #loop} is asked for.
 */
public final class LoopThread implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 5;
    private static final boolean SINCE_4_2 = isPresent("io.netty.channel.SingleThreadIoEventLoop");

    private final ThreadFactory threads;
    private volatile @Nullable EventLoop loop;
    private volatile @Nullable Thread thread;

    /** @param name of the thread */
    public LoopThread(String name) {
        ThreadFactory named = new DefaultThreadFactory(name, true);
        this.threads = task -> started(named.newThread(task));
    }

    /** Looks at the sockets, and for tasks, for a moment before it waits for them, while that pays. */
    private final class Looking implements SelectStrategy {
        private final ShortLook look = new ShortLook();

        @Override
        public int calculateStrategy(IntSupplier now, boolean hasTasks) throws Exception {
            if (hasTasks) {
                return now.get();
            }
            if (!look.pays()) {
                return SELECT;
            }
            long begun = System.nanoTime();
            int ready;
            boolean given;
            do {
                ready = now.get();
                given = hasTasks();
            } while (ready == 0 && !given && System.nanoTime() - begun < ShortLook.NANOS);
            look.ended(ready > 0 || given);
            return ready > 0 || given ? ready : SELECT;
        }
    }

    private boolean hasTasks() {
        return loop instanceof SingleThreadEventExecutor made && made.pendingTasks() > 0;
    }

    /** A loop without a group: a group that ends leaves a thread of Netty's own behind for a second. */
    private static final class Bare {
        static EventLoop loop(ThreadFactory threads, SelectStrategyFactory looking) {
            return new SingleThreadIoEventLoop(
                    null, threads, NioIoHandler.newFactory(SelectorProvider.provider(), looking));
        }
    }

    @SuppressWarnings("deprecation") // Netty 4.1, which many applications have, offers nothing else
    private static EventLoop loopOfAGroup(ThreadFactory threads, SelectStrategyFactory looking) {
        // its own type answers next() differently in 4.2
        EventLoopGroup group = new NioEventLoopGroup(1, threads, SelectorProvider.provider(), looking);
        return group.next();
    }

    private static boolean isPresent(String type) {
        try {
            Class.forName(type, false, LoopThread.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private Thread started(Thread made) {
        thread = made;
        return made;
    }

    public EventLoop loop() {
        EventLoop made = loop;
        return made == null ? open() : made;
    }

    private synchronized EventLoop open() {
        EventLoop made = loop;
        if (made == null) {
            made = SINCE_4_2 ? Bare.loop(threads, Looking::new) : loopOfAGroup(threads, Looking::new);
            loop = made;
        }
        return made;
    }

    /** Runs the task on the loop and waits for it. Not on the loop's thread. */
    public void run(Runnable task) {
        loop().submit(task).syncUninterruptibly();
    }

    /** Ends the thread and waits for it, at most some seconds; an interrupt is kept for later. */
    @Override
    public void close() {
        EventLoop made = loop;
        if (made == null) {
            return;
        }
        made.shutdownGracefully(0, PATIENCE_SECONDS, TimeUnit.SECONDS)
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
