// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.reference.ManualTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A wait with a limit, on the machine's clock and on one that a test moves. */
class TimeSourceTest {

    private static final long MS = 1_000_000L;

    /** The machine's clock, or one that runs at half its speed. */
    private static final class Running implements TimeSource {
        private final int slowness;
        private final AtomicInteger armed = new AtomicInteger();

        private Running(int slowness) {
            this.slowness = slowness;
        }

        @Override
        public long nanoTime() {
            return System.nanoTime() / slowness;
        }

        @Override
        public Scheduled at(long atNanos, Runnable task) {
            armed.incrementAndGet();
            throw new AssertionError("a thread that waits arms nothing");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void endsByItselfAtItsTimeAndNotBefore(int slowness) {
        Running time = new Running(slowness);
        long deadline = time.nanoTime() + 20 * MS;

        assertThatThrownBy(() -> time.await(new CompletableFuture<>(), deadline))
                .isInstanceOf(TimeoutException.class);

        assertThat(time.nanoTime() - deadline).isNotNegative();
        assertThat(time.armed).hasValue(0);
    }

    @Test
    void returnsWhatComesInTimeFromAnotherThread() throws Exception {
        Running time = new Running(1);
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Thread other = new Thread(() -> outcome.complete("granted"));
        other.start();

        assertThat(time.await(outcome, time.nanoTime() + 60_000 * MS)).isEqualTo("granted");
        other.join();
    }

    @Test
    void returnsWhatIsThereThoughTheTimeIsOver() throws Exception {
        Running time = new Running(1);

        assertThat(time.await(CompletableFuture.completedFuture(7), time.nanoTime() - MS))
                .isEqualTo(7);
        assertThatThrownBy(() -> time.await(CompletableFuture.failedFuture(new ArithmeticException()), 0))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(ArithmeticException.class);
    }

    @Test
    void anInterruptEndsIt() {
        Running time = new Running(1);
        CompletableFuture<String> outcome = new CompletableFuture<>();
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> time.await(outcome, time.nanoTime() + 60_000 * MS))
                .isInstanceOf(InterruptedException.class);
        assertThat(outcome).isNotDone();
    }

    @Test
    void whoMovesTheTimeEndsItAtItsMoment() throws Exception {
        ManualTime time = new ManualTime();
        CompletableFuture<String> outcome = new CompletableFuture<>();
        long deadline = time.nanoTime() + 20 * MS;
        AtomicLong end = new AtomicLong();
        Thread waiting = new Thread(() -> {
            try {
                time.await(outcome, deadline);
            } catch (TimeoutException e) {
                end.set(time.nanoTime());
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError(e);
            }
        });
        waiting.start();
        Awaitility.await().until(() -> time.armed() == 1);

        time.advance(Duration.ofMillis(20));
        waiting.join();

        assertThat(end.get()).isEqualTo(deadline);
        assertThat(outcome).isNotDone();
        assertThat(time.armed()).isZero();
    }

    @Test
    void anOutcomeDisarmsTheManualTime() throws Exception {
        ManualTime time = new ManualTime();
        CompletableFuture<String> outcome = new CompletableFuture<>();
        time.at(time.nanoTime() + MS, () -> outcome.complete("granted"));
        long deadline = time.nanoTime() + 20 * MS;
        Thread mover = new Thread(() -> {
            Awaitility.await().until(() -> time.armed() == 2);
            time.advance(Duration.ofMillis(1));
        });
        mover.start();

        assertThat(time.await(outcome, deadline)).isEqualTo("granted");
        mover.join();

        assertThat(time.armed()).isZero();
    }
}
