// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.spi.TimeSource.Scheduled;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SystemTimeTest {
    private static final String NAME = "keyway-timed-timer";

    private static final long GAP = TimeUnit.MILLISECONDS.toNanos(50);

    private final SystemTime time = new SystemTime("timed");

    @AfterEach
    void close() {
        time.close();
    }

    @Test
    void hasNoThreadBeforeTheFirstTimerAndNoneAfterClose() throws Exception {
        assertThat(threads()).isEmpty();

        AtomicReference<Thread> runner = new AtomicReference<>();
        CountDownLatch ran = new CountDownLatch(1);
        time.at(time.nanoTime(), () -> {
            runner.set(Thread.currentThread());
            ran.countDown();
        });
        ran.await();
        assertThat(threads()).hasSize(1);
        assertThat(runner.get().isDaemon()).isTrue();

        time.close();
        assertThat(runner.get().isAlive()).isFalse();
        assertThat(threads()).isEmpty();
        time.close();
    }

    @Test
    void runsInTheOrderOfDueTimesAndNeverEarly() throws Exception {
        List<Integer> order = new CopyOnWriteArrayList<>();
        CountDownLatch done = new CountDownLatch(3);
        AtomicReference<Long> ranAt = new AtomicReference<>();
        CountDownLatch gate = gate();
        long first = saidInTime(given -> List.of(
                time.at(given + 2 * GAP, () -> {
                    ranAt.set(time.nanoTime());
                    order.add(3);
                    done.countDown();
                }),
                time.at(given + GAP, () -> {
                    order.add(2);
                    done.countDown();
                }),
                time.at(given, () -> {
                    order.add(1);
                    done.countDown();
                })));
        gate.countDown();
        done.await();

        assertThat(order).containsExactly(1, 2, 3);
        assertThat(ranAt.get() - (first + 2 * GAP)).isGreaterThanOrEqualTo(0);
    }

    @Test
    void cancelledTaskDoesNotRun() throws Exception {
        List<String> ran = new CopyOnWriteArrayList<>();
        CountDownLatch done = new CountDownLatch(1);
        CountDownLatch gate = gate();
        long now = time.nanoTime();
        Scheduled scheduled = time.at(now, () -> ran.add("cancelled"));
        scheduled.cancel();
        scheduled.cancel();
        time.at(now + 1, done::countDown);
        gate.countDown();
        done.await();

        assertThat(ran).isEmpty();
    }

    /** Returns the first due time; all was said within a gap before it: the timers measure from when each is said. */
    private long saidInTime(LongFunction<List<Scheduled>> say) {
        while (true) {
            long first = time.nanoTime() + GAP;
            List<Scheduled> said = say.apply(first);
            if (time.nanoTime() - first < 0) {
                return first;
            }
            said.forEach(Scheduled::cancel);
        }
    }

    /** Keeps the thread of the timers busy until the test has said all, however slow the machine is. */
    private CountDownLatch gate() {
        CountDownLatch gate = new CountDownLatch(1);
        time.at(time.nanoTime(), () -> {
            try {
                gate.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        return gate;
    }

    @Test
    void failedTaskHidesNoOther() throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        time.at(time.nanoTime(), () -> {
            throw new IllegalStateException("expected by the test");
        });
        time.at(time.nanoTime(), done::countDown);

        assertThat(done.await(3, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    void closeOnItsOwnThreadDoesNotWaitForItself() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        time.at(time.nanoTime(), () -> {
            time.close();
            closed.countDown();
        });

        assertThat(closed.await(3, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    void taskAfterCloseIsDropped() {
        time.close();
        List<String> ran = new CopyOnWriteArrayList<>();

        time.at(time.nanoTime(), () -> ran.add("late")).cancel();

        assertThat(threads()).isEmpty();
        assertThat(ran).isEmpty();
    }

    @Test
    void closeKeepsTheInterruptFlag() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        time.at(time.nanoTime(), running::countDown);
        running.await();
        Thread.currentThread().interrupt();

        time.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(threads()).isEmpty();
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals(NAME))
                .toList();
    }
}
