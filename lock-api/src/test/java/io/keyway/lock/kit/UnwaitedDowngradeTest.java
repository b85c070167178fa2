// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUrl;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.reference.ReferenceFaults;
import io.keyway.lock.reference.ReferenceProvider;
import io.keyway.lock.reference.Verb;
import io.keyway.lock.spi.OpenRequest;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A thread that downgrades its lease and then cannot wait for the answer: nobody keeps the lock. */
class UnwaitedDowngradeTest extends ReferenceClients {

    private static final String URL = "lock:reference://unwaited?closeTimeout=2s";
    private static final Duration TTL = Duration.ofSeconds(4);

    /** As the loop of a client whose own turn would have to bring the answer. */
    private static final class Refusing implements TimeSource {
        private final SystemTime time;
        private volatile @Nullable Throwable refusal;

        Refusing(SystemTime time) {
            this.time = time;
        }

        @Override
        public long nanoTime() {
            return time.nanoTime();
        }

        @Override
        public Scheduled at(long atNanos, Runnable task) {
            return time.at(atNanos, task);
        }

        private void check() {
            Throwable why = refusal;
            if (why instanceof Error error) {
                throw error;
            }
            if (why instanceof RuntimeException exception) {
                throw exception;
            }
        }

        @Override
        public <T> T await(CompletableFuture<T> outcome) throws InterruptedException, ExecutionException {
            check();
            return time.await(outcome);
        }

        @Override
        public <T> T await(CompletableFuture<T> outcome, long deadlineNanos)
                throws InterruptedException, ExecutionException, TimeoutException {
            check();
            return time.await(outcome, deadlineNanos);
        }
    }

    private final SystemTime system = new SystemTime("unwaited");
    private final Refusing time = new Refusing(system);
    private LockClient client;
    private LockClient other;

    @BeforeEach
    void openBoth() {
        client = new ReferenceProvider()
                .open(new OpenRequest(
                        LockUrl.parse(URL), ClientOptions.defaults(), getClass().getClassLoader(), time));
        other = open(URL, ClientOptions.defaults().withName("other"));
    }

    @AfterEach
    void closeClient() {
        client.close();
        system.close();
    }

    private void check(Throwable refusal, Consumer<ReferenceFaults> before, Consumer<ReferenceFaults> after)
            throws Exception {
        DistributedReadWriteLock ours = client.readWriteLock("x");
        Lease write = ours.write().with(LockOptions.none().withTtl(TTL)).acquire();
        before.accept(faults(client));
        time.refusal = refusal;
        assertThatThrownBy(() -> ours.downgrade(write)).isSameAs(refusal);
        time.refusal = null;
        assertThat(write.isHeld()).isFalse();
        after.accept(faults(client));
        Lease next = other.readWriteLock("x").write().tryAcquire(PATIENCE).orElseThrow();
        assertThat(next.token()).isGreaterThan(write.token());
        next.close();
        assertThat(write.release()).isEqualTo(ReleaseOutcome.UNKNOWN);
        await().atMost(PATIENCE).until(() -> store(other).isEmpty());
    }

    private void granted(Throwable refusal) throws Exception {
        check(refusal, faults -> faults.hang(Verb.ATTEMPT), faults -> faults.resume(Verb.ATTEMPT));
    }

    private void unsent(Throwable refusal) throws Exception {
        check(refusal, faults -> faults.failBefore(Verb.ATTEMPT, 1000), faults -> faults.failBefore(Verb.ATTEMPT, 0));
    }

    @Test
    void ofATurnThatIsToBringTheAnswerWhichGrantsLate() throws Exception {
        granted(new IllegalStateException("this thread runs what the outcome waits for"));
    }

    @Test
    void ofATurnThatIsToBringTheAnswerToWhatWasNotSent() throws Exception {
        unsent(new IllegalStateException("this thread runs what the outcome waits for"));
    }

    @Test
    void ofAThreadWithoutStackWhoseGrantIsLate() throws Exception {
        granted(new StackOverflowError("too deep"));
    }

    @Test
    void ofAThreadWithoutStackWhichSentNothing() throws Exception {
        unsent(new StackOverflowError("too deep"));
    }
}
