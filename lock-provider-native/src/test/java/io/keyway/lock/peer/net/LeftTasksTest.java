// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.kit.SystemTime;
import io.keyway.lock.peer.net.ReaderRole.Waiting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Threads that leave their tasks to one another, with nothing that mends what is forgotten: the loop's own thread comes
 * only when it is called, and a select ends only for a reason.
 */
class LeftTasksTest {
    private static final long NEVER_COMES = TimeUnit.HOURS.toNanos(1);
    /** What takes longer is forgotten. */
    private static final Duration LONG = Duration.ofSeconds(20);

    private static final int WAITS = 1_000;
    private static final int ROUNDS = 2_000;

    private final SystemTime time = new SystemTime("left");
    private final ClientLoop loop = new ClientLoop("keyway-left-io", time, NEVER_COMES, NEVER_COMES);
    private final List<Thread> threads = new ArrayList<>();
    private final List<CompletableFuture<Void>> ends = new ArrayList<>();
    private final AtomicInteger at = new AtomicInteger();

    @BeforeEach
    void start() {
        loop.start();
    }

    @AfterEach
    void end() {
        loop.close();
        time.close();
    }

    private interface Work {
        void run(Random random) throws Exception;
    }

    private void thread(int number, int times, Work work) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        ends.add(end);
        Thread thread = new Thread(
                () -> {
                    Random random = new Random(number);
                    try {
                        for (int i = 0; i < times; i++) {
                            work.run(random);
                        }
                        end.complete(null);
                    } catch (Throwable e) {
                        end.completeExceptionally(e);
                    }
                },
                "user-" + number);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private void allEnd() {
        assertThat(ends).allSatisfy(end -> assertThat(end).succeedsWithin(LONG.multipliedBy(3)));
    }

    /** One at a time, on whatever thread. */
    private void alone(Runnable task) {
        assertThat(at.getAndIncrement()).as("tasks at a time before this one").isZero();
        task.run();
        at.decrementAndGet();
    }

    private long limit() {
        return loop.nanoTime() + LONG.toNanos();
    }

    /** Asks, and waits for an outcome that a task brings about, at once or after a moment. */
    private void asksAndWaits(Random random) throws Exception {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        if (random.nextInt(4) > 0) {
            long moment = random.nextInt(300_000);
            loop.execute(() -> alone(() -> loop.after(moment, () -> outcome.complete("later"))));
        } else {
            loop.execute(() -> alone(() -> loop.execute(() -> alone(() -> outcome.complete("at once")))));
        }
        if (random.nextInt(8) == 0) {
            try {
                loop.await(outcome, loop.nanoTime() + random.nextInt(200_000));
                return;
            } catch (TimeoutException e) {
                // It goes on waiting.
            }
        }
        loop.await(outcome, limit());
    }

    private static void looksOn(int times) {
        for (int i = times; i > 0; i--) {
            Thread.onSpinWait();
        }
    }

    /** Asks, and waits without reading: who reads must see to it. */
    private void asksAndLooksOn(Random random) throws Exception {
        CompletableFuture<String> ran = new CompletableFuture<>();
        loop.execute(() -> alone(() -> ran.complete("ran")));
        assertThat(ran.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo("ran");
        if (random.nextInt(3) == 0) {
            looksOn(random.nextInt(2_000));
        }
    }

    @Test
    void nobodysTaskIsForgotten() {
        for (int i = 0; i < 4; i++) {
            thread(i, WAITS, this::asksAndWaits);
        }
        thread(4, WAITS, this::asksAndLooksOn);
        thread(5, WAITS, this::asksAndLooksOn);
        allEnd();
    }

    @Test
    void neitherByAReaderThatComesAndGoes() {
        thread(0, WAITS, this::asksAndWaits);
        thread(1, WAITS, this::asksAndLooksOn);
        allEnd();
    }

    /** One task a round, which nobody follows, for a reader that comes, goes, or looks for alarms just then. */
    @Test
    void whatIsLeftToAReaderThatGoesOrSelectsIsDoneThoughNobodyElseComes() {
        CyclicBarrier round = new CyclicBarrier(2);
        AtomicReference<CompletableFuture<String>> waited = new AtomicReference<>();
        AtomicInteger looked = new AtomicInteger();
        AtomicInteger rounds = new AtomicInteger();
        thread(0, ROUNDS, random -> {
            CompletableFuture<String> outcome = new CompletableFuture<>();
            waited.set(outcome);
            boolean goes = rounds.get() % 2 == 0;
            round.await(LONG.toSeconds(), TimeUnit.SECONDS);
            loop.execute(() -> alone(() -> loop.after(1, () -> {
                looked.incrementAndGet();
                if (goes) {
                    outcome.complete("by itself");
                }
            })));
            loop.await(outcome, limit());
            round.await(LONG.toSeconds(), TimeUnit.SECONDS);
        });
        thread(1, ROUNDS, random -> {
            int before = looked.get();
            round.await(LONG.toSeconds(), TimeUnit.SECONDS);
            CompletableFuture<String> outcome = waited.get();
            while (looked.get() == before) {
                Thread.onSpinWait();
            }
            looksOn(random.nextInt(200));
            CompletableFuture<String> ran = new CompletableFuture<>();
            loop.execute(() -> alone(() -> {
                outcome.complete("by the other one");
                ran.complete("ran");
            }));
            assertThat(ran.get(LONG.toSeconds(), TimeUnit.SECONDS)).isEqualTo("ran");
            rounds.incrementAndGet();
            round.await(LONG.toSeconds(), TimeUnit.SECONDS);
        });
        allEnd();
    }

    @Test
    void nobodySelectsBeforeWhatIsLeftIsDone() throws Exception {
        SerialTasks tasks = new SerialTasks();
        AlarmQueue alarms = new AlarmQueue();
        SocketReader reader = new SocketReader(loop, tasks, alarms);
        tasks.add(() -> {});
        thread(0, 10, random -> {
            Waiting waiting = new Waiting(Thread.currentThread(), new CompletableFuture<>(), reader::wakeUp);
            reader.read(waiting, AlarmQueue.NEVER, random.nextBoolean());
            assertThat(waiting.at).isEqualTo(Waiting.RUNNING);
        });
        allEnd();
        reader.close();
    }

    @Test
    void norByOneThatIsInterrupted() {
        AtomicBoolean over = new AtomicBoolean();
        for (int i = 0; i < 3; i++) {
            thread(i, WAITS / 3, random -> {
                CompletableFuture<String> outcome = new CompletableFuture<>();
                loop.execute(() -> alone(() -> loop.after(random.nextInt(300_000), () -> outcome.complete("later"))));
                while (true) {
                    try {
                        loop.await(outcome, limit());
                        return;
                    } catch (InterruptedException e) {
                        // It goes on waiting.
                    }
                }
            });
        }
        List<Thread> waiting = List.copyOf(threads);
        Thread interrupter = new Thread(() -> {
            Random random = new Random(7);
            while (!over.get()) {
                waiting.get(random.nextInt(waiting.size())).interrupt();
                Thread.onSpinWait();
            }
        });
        interrupter.setDaemon(true);
        interrupter.start();
        thread(3, WAITS, this::asksAndLooksOn);
        allEnd();
        over.set(true);
    }
}
