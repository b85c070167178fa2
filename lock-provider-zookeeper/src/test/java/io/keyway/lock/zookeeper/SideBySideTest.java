// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same work by Curator's InterProcessMutex and by this provider, on the same server, in turns, so that both meet the
 * same load of the machine; the middle of the rounds counts.
 */
@Tag("soak")
class SideBySideTest {
    private static final int WARM_UP = 100;
    private static final int ROUNDS = 100;
    private static final int PAIRS = 50;
    private static final int CONTENDERS = 2;

    @TempDir
    private Path directory;

    private OneServer server;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void begin() throws Exception {
        server = new OneServer(directory);
    }

    @AfterEach
    void end() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        server.close();
    }

    private CuratorFramework curator() throws InterruptedException {
        CuratorFramework curator =
                CuratorFrameworkFactory.newClient(server.address(), 30_000, 5_000, new RetryOneTime(10));
        open.add(curator);
        curator.start();
        curator.blockUntilConnected();
        return curator;
    }

    private LockClient keyway() {
        LockClient client = Locks.open(server.url() + "?ttl=30s");
        open.add(client);
        return client;
    }

    @Test
    void anUncontendedPairIsFaster() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(curator(), "/mutexes/pair");
        DistributedLock lock = keyway().lock("pair");
        double ratio = ratio(
                "pair",
                () -> {
                    for (int i = 0; i < PAIRS; i++) {
                        mutex.acquire();
                        mutex.release();
                    }
                    return PAIRS;
                },
                () -> {
                    for (int i = 0; i < PAIRS; i++) {
                        lock.acquire().release();
                    }
                    return PAIRS;
                });
        assertThat(ratio).isGreaterThan(1.2);
    }

    @Test
    void aHandOverIsFaster() throws Exception {
        List<InterProcessMutex> mutexes = new ArrayList<>();
        List<DistributedLock> locks = new ArrayList<>();
        for (int i = 0; i < CONTENDERS; i++) {
            mutexes.add(new InterProcessMutex(curator(), "/mutexes/hand-over"));
            locks.add(keyway().lock("hand-over"));
        }
        double ratio = ratio(
                "hand-over",
                () -> handOvers(mutexes.size(), i -> {
                    mutexes.get(i).acquire();
                    return mutexes.get(i)::release;
                }),
                () -> handOvers(locks.size(), i -> locks.get(i).acquire()));
        assertThat(ratio).isGreaterThan(1.5);
    }

    private interface Taking {
        AutoCloseable take(int contender) throws Exception;
    }

    /** All take it in turns: each waits before the one before it has given it back. */
    private static int handOvers(int contenders, Taking taking) throws Exception {
        AtomicInteger left = new AtomicInteger(PAIRS);
        AtomicInteger done = new AtomicInteger();
        CountDownLatch ended = new CountDownLatch(contenders);
        for (int i = 0; i < contenders; i++) {
            int contender = i;
            new Thread(() -> {
                        try {
                            while (left.getAndDecrement() > 0) {
                                taking.take(contender).close();
                                done.incrementAndGet();
                            }
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        } finally {
                            ended.countDown();
                        }
                    })
                    .start();
        }
        ended.await();
        return done.get();
    }

    private static double ratio(String what, Callable<Integer> theirs, Callable<Integer> ours) throws Exception {
        List<Double> their = new ArrayList<>();
        List<Double> our = new ArrayList<>();
        for (int i = 0; i < WARM_UP + ROUNDS; i++) {
            double theirRound = perSecond(theirs);
            double ourRound = perSecond(ours);
            if (i >= WARM_UP) {
                their.add(theirRound);
                our.add(ourRound);
            }
        }
        double theirMiddle = middle(their);
        double ourMiddle = middle(our);
        System.out.printf(
                "%s: InterProcessMutex %.0f/s, Keyway %.0f/s, ratio %.2f%n",
                what, theirMiddle, ourMiddle, ourMiddle / theirMiddle);
        return ourMiddle / theirMiddle;
    }

    private static double perSecond(Callable<Integer> work) throws Exception {
        long begun = System.nanoTime();
        int done = work.call();
        return done * 1e9 / (System.nanoTime() - begun);
    }

    private static double middle(List<Double> all) {
        return all.stream().sorted().skip(all.size() / 2).findFirst().orElseThrow();
    }
}
