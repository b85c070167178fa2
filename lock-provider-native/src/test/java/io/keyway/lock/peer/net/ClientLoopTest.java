// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.kit.SystemTime;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tasks one at a time on whatever thread, and threads that wait; without a socket. */
class ClientLoopTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final SystemTime time = new SystemTime("loop");
    private final ClientLoop loop = new ClientLoop("keyway-loop-io", time);
    /** Threads of users. */
    private final List<Thread> users = new ArrayList<>();

    @BeforeEach
    void start() {
        loop.start();
    }

    @AfterEach
    void end() throws InterruptedException {
        loop.close();
        time.close();
        for (Thread user : users) {
            user.join();
        }
    }

    private Thread user(Runnable task) {
        Thread user = new Thread(task, "user");
        user.setDaemon(true);
        users.add(user);
        user.start();
        return user;
    }

    /** How it ended: the value, or the kind of the failure. */
    private CompletableFuture<String> waits(CompletableFuture<String> outcome, Duration limit) {
        CompletableFuture<String> end = new CompletableFuture<>();
        user(() -> {
            try {
                end.complete(loop.await(outcome, loop.nanoTime() + limit.toNanos()));
            } catch (Exception e) {
                end.complete(e.getClass().getSimpleName());
            }
        });
        return end;
    }

    private Thread last() {
        return users.get(users.size() - 1);
    }

    /** Until that thread reads, or follows. */
    private void waitsIndeed(Thread user) {
        await().atMost(Patience.of(LONG)).until(() -> waits(user));
    }

    private static boolean waits(Thread user) {
        for (StackTraceElement each : user.getStackTrace()) {
            if (each.getMethodName().equals("waitReading")) {
                return user.getState() != Thread.State.RUNNABLE
                        || Stream.of(user.getStackTrace())
                                .anyMatch(frame -> frame.getMethodName().equals("select"));
            }
        }
        return false;
    }

    @Test
    void tasksRunOneAtATimeInTheOrderOfEachThread() throws InterruptedException {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        List<List<Integer>> ran = new ArrayList<>();
        CountDownLatch over = new CountDownLatch(4 * 5000);
        for (int i = 0; i < 4; i++) {
            List<Integer> mine = new ArrayList<>();
            ran.add(mine);
            user(() -> {
                for (int n = 0; n < 5000; n++) {
                    int number = n;
                    loop.execute(() -> {
                        overlaps.addAndGet(inside.getAndIncrement());
                        mine.add(number);
                        inside.getAndDecrement();
                        over.countDown();
                    });
                }
            });
        }
        assertThat(over.await(Patience.seconds(30), TimeUnit.SECONDS)).isTrue();
        assertThat(overlaps).hasValue(0);
        assertThat(ran).allSatisfy(each -> assertThat(each).hasSize(5000).isSorted());
    }

    @Test
    void theTasksOfATaskRunAfterItOnItsThread() {
        List<String> ran = new CopyOnWriteArrayList<>();
        Set<Thread> by = ConcurrentHashMap.newKeySet();
        loop.execute(() -> {
            loop.execute(() -> {
                by.add(Thread.currentThread());
                ran.add("second");
            });
            by.add(Thread.currentThread());
            ran.add("first");
        });
        // The loop's own thread runs them if it looks for tasks just then, as it does when it begins.
        awaitSize(ran, 2);
        assertThat(ran).containsExactly("first", "second");
        assertThat(by).hasSize(1);
    }

    private static void awaitSize(List<?> list, int size) {
        await().atMost(Patience.of(LONG)).until(() -> list.size() == size);
    }

    @Test
    void aTaskThatIsLeftRunsOnTheThreadOfTheLoopWhileNobodyWaits() {
        for (int i = 0; i < 200; i++) {
            CompletableFuture<String> by = new CompletableFuture<>();
            loop.leave(() -> by.complete(Thread.currentThread().getName()));
            assertThat(by).succeedsWithin(LONG).isEqualTo("keyway-loop-io");
        }
    }

    @Test
    void aTaskThatIsLeftReachesTheThreadThatWaitsForIt() throws InterruptedException {
        for (int i = 0; i < 2000; i++) {
            CompletableFuture<String> outcome = new CompletableFuture<>();
            CompletableFuture<String> end = waits(outcome, LONG);
            Thread leaver = new Thread(() ->
                    loop.leave(() -> outcome.complete(Thread.currentThread().getName())));
            leaver.start();
            leaver.join();
            assertThat(end).succeedsWithin(LONG).isIn("user", "keyway-loop-io");
        }
    }

    @Test
    void aTaskOfABusyLoopRunsOnTheThreadThatIsThere() throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread busy = user(() -> loop.execute(() -> {
            inside.countDown();
            uninterrupted(goOn);
        }));
        inside.await();
        CompletableFuture<Thread> by = new CompletableFuture<>();
        loop.execute(() -> by.complete(Thread.currentThread()));
        assertThat(by).isNotDone();
        goOn.countDown();
        assertThat(by).succeedsWithin(LONG).isSameAs(busy);
    }

    private static void uninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aTaskThatFailsIsNoMatterOfTheThreadThatRunsIt() {
        List<String> ran = new CopyOnWriteArrayList<>();
        loop.execute(() -> {
            loop.execute(() -> {
                throw new OutOfMemoryError("in a task of somebody else's");
            });
            loop.execute(() -> {
                throw new IllegalStateException("another one");
            });
            loop.execute(() -> ran.add("third"));
        });
        awaitSize(ran, 1);
        assertThat(ran).containsExactly("third");
        loop.execute(() -> ran.add("later"));
        awaitSize(ran, 2);
        assertThat(ran).containsExactly("third", "later");
    }

    @Test
    void aTaskThatRanOutOfStackRunsAgainBeforeAllOthersOnTheLoopsOwnThread() {
        List<String> ran = new CopyOnWriteArrayList<>();
        AtomicInteger fails = new AtomicInteger(2);
        loop.execute(() -> {
            loop.execute(() -> {
                ran.add("first on " + Thread.currentThread().getName());
                if (fails.getAndDecrement() > 1) {
                    throw new StackOverflowError("too deep");
                }
            });
            loop.execute(() -> ran.add("second"));
            loop.execute(() -> {
                throw new StackOverflowError("each time");
            });
            loop.execute(() -> ran.add("third"));
        });
        awaitSize(ran, 4);
        assertThat(ran.get(0)).startsWith("first on ");
        assertThat(ran.subList(1, 4)).containsExactly("first on keyway-loop-io", "second", "third");
    }

    @Test
    void anAlarmComesWithoutAThreadThatWaitsAndNotIfItWasCancelled() {
        CompletableFuture<String> early = new CompletableFuture<>();
        CompletableFuture<String> late = new CompletableFuture<>();
        loop.execute(() -> {
            loop.after(Duration.ofMillis(1).toNanos(), () -> early.complete("cancelled"))
                    .cancel();
            loop.after(Duration.ofMillis(30).toNanos(), () -> late.complete("due"));
        });
        assertThat(late).succeedsWithin(LONG).isEqualTo("due");
        assertThat(early).isNotDone();
    }

    @Test
    void anAlarmIsSeenByTheThreadThatWaits() throws Exception {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        CompletableFuture<String> end = waits(outcome, LONG);
        waitsIndeed(last());
        // Nobody has asked for a while: its select is a long one by now.
        loop.execute(() -> loop.after(Duration.ofMillis(5).toNanos(), () -> outcome.complete("due")));
        assertThat(end).succeedsWithin(LONG).isEqualTo("due");
    }

    @Test
    void outcomesThatOthersCompleteEndTheWaitOfTheReaderAndOfAFollower() {
        List<CompletableFuture<String>> outcomes = new ArrayList<>();
        List<CompletableFuture<String>> ends = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            outcomes.add(new CompletableFuture<>());
            ends.add(waits(outcomes.get(i), LONG));
            waitsIndeed(last());
        }
        outcomes.get(3).complete("a follower's");
        assertThat(ends.get(3)).succeedsWithin(LONG).isEqualTo("a follower's");
        outcomes.get(0).complete("the reader's");
        assertThat(ends.get(0)).succeedsWithin(LONG).isEqualTo("the reader's");
        outcomes.get(1).cancel(false);
        assertThat(ends.get(1)).succeedsWithin(LONG).isEqualTo(CancellationException.class.getSimpleName());
        outcomes.get(4).completeExceptionally(new IOException("failed"));
        assertThat(ends.get(4)).succeedsWithin(LONG).isEqualTo("ExecutionException");
        outcomes.get(2).complete("the last");
        assertThat(ends.get(2)).succeedsWithin(LONG).isEqualTo("the last");
    }

    @Test
    void aReaderWhoseTimeIsUpHandsTheRoleOn() {
        CompletableFuture<String> never = new CompletableFuture<>();
        CompletableFuture<String> first = waits(never, Duration.ofSeconds(1));
        Thread reader = last();
        await().atMost(Patience.of(LONG)).until(() -> first.isDone() || waits(reader));
        CompletableFuture<String> outcome = new CompletableFuture<>();
        CompletableFuture<String> second = waits(outcome, LONG);
        Thread follower = last();
        assertThat(first).succeedsWithin(LONG).isEqualTo(TimeoutException.class.getSimpleName());
        await("somebody reads")
                .atMost(Patience.of(LONG))
                .until(() -> Thread.getAllStackTraces().entrySet().stream()
                        .filter(each -> each.getKey() == follower
                                || each.getKey().getName().equals("keyway-loop-io"))
                        .flatMap(each -> Stream.of(each.getValue()))
                        .anyMatch(frame -> frame.getMethodName().equals("select")));
        outcome.complete("there");
        assertThat(second).succeedsWithin(LONG).isEqualTo("there");
    }

    @Test
    void anInterruptEndsTheWaitOfTheReaderAndOfAFollower() {
        CompletableFuture<String> never = new CompletableFuture<>();
        CompletableFuture<String> reader = waits(never, LONG);
        Thread first = last();
        waitsIndeed(first);
        CompletableFuture<String> follower = waits(never, LONG);
        Thread second = last();
        waitsIndeed(second);
        second.interrupt();
        assertThat(follower).succeedsWithin(LONG).isEqualTo(InterruptedException.class.getSimpleName());
        first.interrupt();
        assertThat(reader).succeedsWithin(LONG).isEqualTo(InterruptedException.class.getSimpleName());
    }

    @Test
    void whoRunsATaskMustNotWaitForOneThatComesAfterIt() throws Exception {
        // Another thread may be the one that runs it.
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        loop.execute(() -> thrown.complete(catchThrowable(() -> loop.await(new CompletableFuture<>()))));
        assertThat(thrown.get(Patience.seconds(10), TimeUnit.SECONDS))
                .isInstanceOf(IllegalStateException.class)
                .asString()
                .contains("this thread runs what the outcome waits for");
    }

    @Test
    void whoWaitsWhenTheLoopEndsHearsItsOutcomeAllTheSame() throws Exception {
        CompletableFuture<String> outcome = new CompletableFuture<>();
        CompletableFuture<String> reader = waits(outcome, LONG);
        waitsIndeed(last());
        CompletableFuture<String> follower = waits(outcome, LONG);
        waitsIndeed(last());
        CompletableFuture<String> short_ = waits(new CompletableFuture<>(), Duration.ofMillis(300));
        loop.close();
        assertThatThrownBy(() -> loop.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(short_).succeedsWithin(LONG).isEqualTo(TimeoutException.class.getSimpleName());
        outcome.complete("there");
        assertThat(reader).succeedsWithin(LONG).isEqualTo("there");
        assertThat(follower).succeedsWithin(LONG).isEqualTo("there");
        assertThatThrownBy(() -> loop.await(new CompletableFuture<>(), loop.nanoTime() + 1_000_000))
                .isInstanceOf(TimeoutException.class);
    }

    @Test
    void whoWaitedBeforeTheStartIsServedToo() {
        ClientLoop late = new ClientLoop("keyway-late-io", time);
        CompletableFuture<String> outcome = new CompletableFuture<>();
        CompletableFuture<String> end = new CompletableFuture<>();
        user(() -> {
            try {
                end.complete(late.await(outcome));
            } catch (Exception e) {
                end.completeExceptionally(e);
            }
        });
        await().atMost(Patience.of(LONG)).until(() -> last().getState() == Thread.State.WAITING);
        late.start();
        late.execute(() -> late.after(1_000_000, () -> outcome.complete("served")));
        assertThat(end).succeedsWithin(LONG).isEqualTo("served");
        late.close();
    }

    @Test
    void virtualThreadsWaitWithoutReading() throws Exception {
        assumeThat(Runtime.version().feature()).as("has virtual threads").isGreaterThanOrEqualTo(21);
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        List<CompletableFuture<String>> ends = new ArrayList<>();
        Executor starter = task -> {
            try {
                Class.forName("java.lang.Thread$Builder")
                        .getMethod("start", Runnable.class)
                        .invoke(builder, task);
            } catch (ReflectiveOperationException e) {
                throw new LinkageError("no virtual threads", e);
            }
        };
        for (int i = 0; i < 200; i++) {
            CompletableFuture<String> outcome = new CompletableFuture<>();
            CompletableFuture<String> end = new CompletableFuture<>();
            ends.add(end);
            starter.execute(() -> {
                try {
                    loop.execute(() -> loop.after(20_000_000, () -> outcome.complete("due")));
                    end.complete(loop.await(outcome));
                } catch (Exception e) {
                    end.completeExceptionally(e);
                }
            });
        }
        assertThat(ends).allSatisfy(end -> assertThat(end).succeedsWithin(LONG).isEqualTo("due"));
    }

    @Test
    void anIdleLoopCostsNothing() throws Exception {
        Path tasks = Path.of("/proc/self/task");
        assumeThat(tasks).as("Linux says how often a thread has waited").isDirectory();
        CompletableFuture<String> due = new CompletableFuture<>();
        loop.execute(() -> loop.after(1_000_000, () -> due.complete("due")));
        assertThat(waits(due, LONG)).succeedsWithin(LONG).isEqualTo("due");
        awaitIdle(tasks);
    }

    @Test
    void aLoopOnWhichOneThreadWaitsForLongCostsNothingEither() throws Exception {
        Path tasks = Path.of("/proc/self/task");
        assumeThat(tasks).as("Linux says how often a thread has waited").isDirectory();
        CompletableFuture<String> never = new CompletableFuture<>();
        CompletableFuture<String> end = waits(never, LONG);
        waitsIndeed(last());
        awaitIdle(tasks);
        never.complete("over");
        assertThat(end).succeedsWithin(LONG).isEqualTo("over");
    }

    /**
     * Until its threads have hardly stopped to wait from one look to the next. While requests come they look for alarms
     * more often; that ends a second after the last one.
     */
    private static void awaitIdle(Path tasks) {
        AtomicLong seen = new AtomicLong(Long.MIN_VALUE / 2);
        await("it is idle")
                .atMost(Patience.of(LONG))
                .pollInterval(Duration.ofMillis(500))
                .until(() -> {
                    long now = waits(tasks);
                    return now - seen.getAndSet(now) < 10;
                });
    }

    private static List<String> lines(Path status) {
        try {
            return Files.readAllLines(status);
        } catch (IOException e) {
            return List.of(""); // the thread has just ended
        }
    }

    /** How often the loop's own thread and those of users have stopped to wait. */
    private static long waits(Path tasks) throws IOException {
        long count = 0;
        try (Stream<Path> all = Files.list(tasks)) {
            for (Path task : all.toList()) {
                List<String> lines = lines(task.resolve("status"));
                if (lines.get(0).contains("keyway-loop-io") || lines.get(0).endsWith("user")) {
                    for (String line : lines) {
                        count += line.startsWith("voluntary_ctxt_switches")
                                ? Long.parseLong(line.replaceAll("\\D", ""))
                                : 0;
                    }
                }
            }
        }
        return count;
    }
}
