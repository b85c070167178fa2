// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockName;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Who stops to wait at the moment in which it is told: a failure is told once, so that nobody else would hear it. */
class TransactionWaitersTest {
    private static final LockUnavailableException FAILURE =
            new LockUnavailableException("no answer", LockName.of("x"), "a store", null);

    private Runnable atTheLimit = () -> {};
    private boolean interrupted;

    /** Whose waits end without an outcome, whatever has happened meanwhile. */
    private final TimeSource time = new StillTime() {
        @Override
        public <T> T await(CompletableFuture<T> outcome) throws InterruptedException {
            atTheLimit.run();
            throw new InterruptedException();
        }

        @Override
        public <T> T await(CompletableFuture<T> outcome, long deadlineNanos)
                throws InterruptedException, TimeoutException {
            if (interrupted) {
                await(outcome);
            }
            atTheLimit.run();
            throw new TimeoutException();
        }
    };

    private final TransactionWaiters waiters = new TransactionWaiters(time);
    private final CompletableFuture<Boolean> outcome = new CompletableFuture<>();

    private boolean await() throws InterruptedException {
        return waiters.await(outcome, Duration.ofSeconds(1), waiters::remove);
    }

    @Test
    void whoIsToldNothingIsTooLate() throws Exception {
        waiters.add(outcome);
        assertThat(await()).isFalse();
        assertThat(waiters.isEmpty()).isTrue();
        waiters.requestFailed(FAILURE).run();
        assertThat(waiters.takeUntold()).as("who comes next hears it").isSameAs(FAILURE);
    }

    @Test
    void aFailureAtTheLimitIsHeard() {
        waiters.add(outcome);
        atTheLimit = () -> waiters.requestFailed(FAILURE).run();
        assertThatThrownBy(this::await).isSameAs(FAILURE);
        assertThat(waiters.takeUntold()).isNull();
    }

    @Test
    void aGrantAtTheLimitIsHeard() throws Exception {
        waiters.add(outcome);
        atTheLimit = () -> waiters.done().run();
        assertThat(await()).isTrue();
    }

    @Test
    void whoIsInterruptedHearsWhatItWasToldAndStaysInterrupted() throws Exception {
        waiters.add(outcome);
        interrupted = true;
        atTheLimit = () -> waiters.requestFailed(FAILURE).run();
        assertThatThrownBy(this::await).isSameAs(FAILURE);
        assertThat(Thread.interrupted()).isTrue();

        waiters.add(outcome);
        assertThatThrownBy(() -> waiters.await(outcome, waiters::remove)).isSameAs(FAILURE);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void whoIsInterruptedBeforeItIsToldIsToldNothing() {
        waiters.add(outcome);
        assertThatThrownBy(() -> waiters.await(outcome, waiters::remove)).isInstanceOf(InterruptedException.class);
        assertThat(waiters.isEmpty()).isTrue();
        assertThat(Thread.interrupted()).isFalse();
    }
}
