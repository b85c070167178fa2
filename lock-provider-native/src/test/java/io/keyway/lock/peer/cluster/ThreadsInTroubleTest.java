// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.process.Patience;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Threads of users that ask where they should not: whatever becomes of them, the others get their locks. */
class ThreadsInTroubleTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private DisklessMember member;

    @BeforeEach
    void start() throws Exception {
        member = DisklessMember.alone();
    }

    @AfterEach
    void end() {
        member.close();
    }

    private LockClient open(ClientOptions options) {
        return Locks.open(member.url("?cache=off"), options);
    }

    /** As an application does whose futures go on on the thread that completes them. */
    private LockClient openInTurns() {
        return open(ClientOptions.defaults().withEventExecutor(Runnable::run));
    }

    /** Asks again and again on the way back from where the stack was over. */
    @SuppressWarnings("InfiniteRecursion") // until the stack is over
    private static void sink(int[] left, Runnable task) {
        try {
            sink(left, task);
        } catch (StackOverflowError e) {
            if (left[0]-- > 0) {
                task.run();
            }
            throw e;
        }
    }

    /** A recursion without end that uses a lock, and is caught further up, as by a web server. */
    @Test
    void whoRunsOutOfStackHarmsNobodyElse() throws Exception {
        try (LockClient client = open(ClientOptions.defaults())) {
            int[] left = {20};
            Thread deep = new Thread(
                    null,
                    () -> {
                        try {
                            sink(left, () -> {
                                try {
                                    client.lock("deep").tryAcquire().ifPresent(Lease::release);
                                } catch (InterruptedException | RuntimeException e) {
                                    left[0]--; // what counts is what others see
                                }
                            });
                        } catch (StackOverflowError e) {
                            left[0] = 0;
                        }
                    },
                    "deep",
                    256 * 1024);
            deep.start();
            deep.join(Patience.of(LONG).toMillis());
            assertThat(deep.isAlive()).isFalse();
            assertThat(client.lock("other").tryAcquire(LONG)).isPresent();
            assertThat(client.lock("another").tryAcquire(LONG)).isPresent();
        }
    }

    @Test
    void whoAsksWithinATurnAndIsRefusedLeavesNothingBehind() throws Exception {
        try (LockClient other = open(ClientOptions.defaults());
                LockClient client = openInTurns()) {
            client.lock("warm").acquire().release();
            CompletableFuture<Void> over = client.lock("outer")
                    .acquireAsync()
                    .thenAccept(lease -> {
                        try {
                            client.lock("inner").tryAcquire().ifPresent(Lease::release);
                        } catch (InterruptedException | IllegalStateException e) {
                            lease.release();
                        }
                    })
                    .toCompletableFuture();
            await().atMost(Patience.of(LONG)).until(over::isDone);
            assertThat(other.lock("inner").tryAcquire(LONG)).isPresent();
        }
    }

    @Test
    void closingWithinATurnEnds() throws Exception {
        try (LockClient other = open(ClientOptions.defaults())) {
            LockClient client = openInTurns();
            CompletableFuture<Void> closed = client.lock("outer")
                    .acquireAsync()
                    .thenAccept(lease -> client.close())
                    .toCompletableFuture();
            assertThat(closed).succeedsWithin(LONG);
            assertThat(other.lock("outer").tryAcquire(LONG)).isPresent();
        }
    }

    @Test
    void aPoolMakesUpForAWorkerThatWaitsForALock() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(1);
        try (LockClient client = open(ClientOptions.defaults())) {
            Lease held = client.lock("one").acquire();
            CompletableFuture<String> end = new CompletableFuture<>();
            pool.execute(() -> {
                pool.execute(held::release);
                try (Lease lease = client.lock("one").acquire()) {
                    end.complete("held: " + lease.isHeld());
                } catch (InterruptedException e) {
                    end.completeExceptionally(e);
                }
            });
            assertThat(end).succeedsWithin(LONG).isEqualTo("held: true");
        } finally {
            pool.shutdownNow();
        }
    }

    /** The member has accepted and says nothing. */
    @Test
    void aHandshakeUnderWayEndsWithTheClient() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            LockClient client = Locks.open("lock:native://127.0.0.1:" + silent.getLocalPort() + "/orders?tls=true");
            CompletableFuture<Lease> asked = client.lock("one").acquireAsync().toCompletableFuture();
            try (Socket accepted = silent.accept()) {
                accepted.setSoTimeout((int) LONG.toMillis());
                assertThat(accepted.getInputStream().read()).as("its hello").isPositive();
                client.close();
                assertThat(asked).failsWithin(LONG);
                assertThat(accepted.getInputStream().readAllBytes())
                        .as("until the end of the stream")
                        .isNotEmpty();
            }
        }
    }
}
