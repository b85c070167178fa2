// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.kit.SystemTime;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A loop whose users' threads, tasks and connections fail, or end early: the others are served. */
class ClientLoopFaultsTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final SystemTime time = new SystemTime("loop");
    private final ClientLoop loop = new ClientLoop("keyway-loop-io", time);

    @BeforeEach
    void start() {
        loop.start();
    }

    @AfterEach
    void end() {
        loop.close();
        time.close();
    }

    private static ServerSocket server() throws IOException {
        return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    /** Connected, and registered with nobody to serve it: whoever has to do with it fails. */
    private SocketChannel registered(ServerSocket server, int operations) throws IOException {
        SocketChannel channel = SocketChannel.open(server.getLocalSocketAddress());
        channel.configureBlocking(false);
        loop.run(() -> {
            try {
                channel.register(loop.reader().selector(), operations, null);
                loop.reader().changed();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        return channel;
    }

    /** Whose failure no log can show. */
    private static void poison() {
        throw new IllegalStateException() {
            @Override
            public String getMessage() {
                throw new IllegalStateException("as an appender that fails");
            }
        };
    }

    private CompletableFuture<String> alarm(Duration after) {
        CompletableFuture<String> due = new CompletableFuture<>();
        loop.run(() -> loop.after(after.toNanos(), () -> due.complete("due")));
        return due;
    }

    @Test
    void aFailureThatCannotBeLoggedLeavesSomebodyWhoReads() throws Exception {
        loop.execute(() -> loop.after(1_000_000, () -> loop.execute(ClientLoopFaultsTest::poison)));
        assertThat(alarm(Duration.ofMillis(50))).succeedsWithin(LONG).isEqualTo("due");
        assertThat(loop.await(alarm(Duration.ofMillis(1)), loop.nanoTime() + LONG.toNanos()))
                .isEqualTo("due");
    }

    @Test
    void aConnectionThatFailsIsEndedAndHoldsUpNoAlarm() throws Exception {
        try (ServerSocket server = server();
                SocketChannel channel = registered(server, SelectionKey.OP_WRITE);
                Socket accepted = server.accept()) {
            assertThat(alarm(Duration.ofMillis(1))).succeedsWithin(LONG).isEqualTo("due");
            accepted.setSoTimeout((int) LONG.toMillis());
            assertThat(accepted.getInputStream().read()).isEqualTo(-1);
            assertThat(channel.isOpen()).isFalse();
        }
    }

    /** A flood of tasks by threads that do not wait: each task gives another one. */
    @Test
    void whoAsksOnceIsNotKeptByThoseWhoAskOnAndOn() {
        AtomicBoolean stop = new AtomicBoolean();
        CompletableFuture<Thread> otherwise = new CompletableFuture<>();
        Thread me = Thread.currentThread();
        Runnable flood = new Runnable() {
            @Override
            public void run() {
                if (Thread.currentThread() != me) {
                    otherwise.complete(Thread.currentThread());
                }
                if (!stop.get()) {
                    loop.execute(this);
                }
            }
        };
        loop.execute(flood);
        assertThat(otherwise).succeedsWithin(LONG).isNotNull();
        stop.set(true);
    }

    /** As the get() of a future does. */
    @Test
    void aPoolMakesUpForAWorkerThatWaits() {
        ForkJoinPool pool = new ForkJoinPool(1);
        CompletableFuture<String> released = new CompletableFuture<>();
        try {
            CompletableFuture<String> end = new CompletableFuture<>();
            pool.execute(() -> {
                pool.execute(() -> released.complete("by a task of the same pool"));
                try {
                    end.complete(loop.await(released));
                } catch (Exception e) {
                    end.completeExceptionally(e);
                }
            });
            assertThat(end).succeedsWithin(LONG).isEqualTo("by a task of the same pool");
        } finally {
            released.complete("late");
            pool.shutdownNow();
        }
    }

    @Test
    void aConnectionUnderWayIsClosedWithTheLoop() throws Exception {
        try (ServerSocket server = server();
                SocketChannel channel = registered(server, 0);
                Socket accepted = server.accept()) {
            loop.close();
            accepted.setSoTimeout((int) LONG.toMillis());
            assertThat(accepted.getInputStream().read()).isEqualTo(-1);
            assertThat(channel.isOpen()).isFalse();
        }
    }

    @Test
    void whatIsThereIsAwaitedWithinATaskToo() {
        List<String> seen = new ArrayList<>();
        loop.execute(() -> {
            try {
                seen.add(loop.await(CompletableFuture.completedFuture("there")));
            } catch (Exception e) {
                seen.add(e.toString());
            }
        });
        assertThat(seen).containsExactly("there");
    }

    @Test
    void whoRunsATaskCannotEndTheLoopButAnotherThreadCan() {
        CompletableFuture<Thread> ended = new CompletableFuture<>();
        loop.execute(() -> {
            assertThatThrownBy(loop::close).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> loop.run(() -> {})).isInstanceOf(IllegalStateException.class);
            loop.whereItMayWait(() -> {
                loop.close();
                ended.complete(Thread.currentThread());
            });
        });
        assertThat(ended).succeedsWithin(LONG).isNotSameAs(Thread.currentThread());
    }

    @Test
    void clientsThatHaveOpenedNothingKeepNoMemoryOutsideOfTheHeap() {
        long before = direct();
        List<ClientLoop> many = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            many.add(new ClientLoop("keyway-idle-io", time));
        }
        assertThat(direct() - before).as("bytes of %s loops", many.size()).isLessThan(1 << 20);
    }

    private static long direct() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(each -> each.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }
}
