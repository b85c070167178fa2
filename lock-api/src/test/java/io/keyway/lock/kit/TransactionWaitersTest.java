// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Who stops to wait at the moment in which it is told: a failure is told once, so that nobody else would hear it. */
class TransactionWaitersTest {
    private final LockUnavailableException failure =
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
    private final TransactionWaiters.Wait wait = new TransactionWaiters.Wait(null, null, 2);
    private boolean complete;

    private final TransactionWaiters.Locks locks = new TransactionWaiters.Locks() {
        @Override
        public boolean isComplete() {
            return complete;
        }

        @Override
        public boolean isWanted(LockRequest request) {
            return false;
        }

        @Override
        public boolean isHeld(LockRequest request) {
            return false;
        }

        @Override
        public void tell(LockRequest request) {}
    };

    private boolean await() throws InterruptedException {
        return waiters.await(wait, Duration.ofSeconds(1), waiters::remove);
    }

    private void settle() {
        assertThat(waiters.settle(locks, Runnable::run)).isEmpty();
    }

    private void fail() {
        waiters.failed(new Wishes.GivenUp(LockName.of("x"), LockMode.EXCLUSIVE, 1), failure);
        settle();
    }

    @Test
    void whoIsToldNothingIsTooLate() throws Exception {
        waiters.add(wait);
        assertThat(await()).isFalse();
        fail();
        assertThat(waiters.untold()).as("who comes next hears it").isSameAs(failure);
    }

    @Test
    void aFailureAtTheLimitIsHeard() {
        waiters.add(wait);
        atTheLimit = this::fail;
        assertThatThrownBy(this::await).isSameAs(failure);
        assertThat(waiters.untold()).isNull();
    }

    @Test
    void aGrantAtTheLimitIsHeard() throws Exception {
        waiters.add(wait);
        atTheLimit = () -> {
            complete = true;
            settle();
        };
        assertThat(await()).isTrue();
    }

    @Test
    void whoIsInterruptedHearsWhatItWasToldAndStaysInterrupted() {
        waiters.add(wait);
        interrupted = true;
        atTheLimit = this::fail;
        assertThatThrownBy(this::await).isSameAs(failure);
        assertThat(Thread.interrupted()).isTrue();
        assertThatThrownBy(() -> waiters.await(wait, null, waiters::remove)).isSameAs(failure);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void whoIsInterruptedBeforeItIsToldIsToldNothing() {
        waiters.add(wait);
        assertThatThrownBy(() -> waiters.await(wait, null, waiters::remove)).isInstanceOf(InterruptedException.class);
        assertThat(waiters.remove(wait)).isFalse();
        assertThat(Thread.interrupted()).isFalse();
    }
}
