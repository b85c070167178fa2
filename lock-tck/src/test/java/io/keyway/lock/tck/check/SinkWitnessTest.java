// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockException;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.Owner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class SinkWitnessTest {

    private final List<String> reported = new ArrayList<>();
    private final Listening sink = new Listening();
    private final SinkWitness witness = new SinkWitness(sink, null, reported::add);

    @Test
    void oneFateInItsOrderIsNotReported() {
        witness.doubt("nobody answers");
        witness.waiting(OptionalInt.of(2), List.of());
        witness.waiting(OptionalInt.of(1), List.of());
        witness.granted(new Standing(), 7);
        witness.doubt("silence");
        witness.certain();
        witness.ended(LeaseLoss.Cause.EXPIRED, "unheard");
        assertThat(reported).isEmpty();
        assertThat(sink.told).containsExactly("doubt", "waiting", "waiting", "granted", "doubt", "certain", "ended");
    }

    @Test
    void aSecondFateIsReportedAndPassedOn() {
        witness.granted(new Standing(), 7);
        witness.granted(new Standing(), 7);
        assertThat(reported).singleElement().asString().endsWith("was told granted after granted");
        assertThat(sink.told).containsExactly("granted", "granted");
    }

    @Test
    void whatComesAfterTheEndIsReported() {
        witness.refused(List.of());
        witness.waiting(OptionalInt.empty(), List.of());
        witness.doubt("late");
        witness.failed(new LockUnavailableException("late", null, "here", null));
        assertThat(reported).hasSize(3);
        assertThat(reported.get(0)).endsWith("was told waiting after refused");
    }

    @Test
    void aWaitAfterItsGrantIsReported() {
        witness.granted(new Standing(), 7);
        witness.waiting(OptionalInt.of(0), List.of());
        assertThat(reported).singleElement().asString().endsWith("was told waiting after granted");
    }

    @Test
    void anEndWithoutAGrantIsReported() {
        witness.ended(LeaseLoss.Cause.DENIED, "of what?");
        assertThat(reported).singleElement().asString().endsWith("was told ended before any grant");
    }

    @Test
    void aSecondEndIsReported() {
        witness.granted(new Standing(), 7);
        witness.ended(LeaseLoss.Cause.BROKEN, "once");
        witness.ended(LeaseLoss.Cause.EXPIRED, "twice");
        assertThat(reported).singleElement().asString().endsWith("was told ended after ended");
    }

    @Test
    void twoCallsAtOnceAreReported() throws Exception {
        sink.during = () -> {
            Thread other = new Thread(witness::certain);
            other.start();
            join(other);
        };
        witness.granted(new Standing(), 7);
        assertThat(reported)
                .singleElement()
                .asString()
                .endsWith("was told certain while another thread was still calling it");
    }

    @Test
    void aSinkMayBeCalledAgainByTheThreadThatCallsIt() {
        sink.during = witness::certain;
        witness.granted(new Standing(), 7);
        assertThat(reported).isEmpty();
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Listening implements LockEngine.Sink {
        private final List<String> told = new ArrayList<>();
        private Runnable during = () -> {};

        @Override
        public void waiting(OptionalInt ahead, List<Owner> holders) {
            told.add("waiting");
        }

        @Override
        public void closed(String why) {
            told.add("closed");
        }

        @Override
        public void refused(List<Owner> holders) {
            told.add("refused");
        }

        @Override
        public void granted(LockEngine.Hold hold, long token) {
            told.add("granted");
            during.run();
        }

        @Override
        public void doubt(String why) {
            told.add("doubt");
        }

        @Override
        public void certain() {
            told.add("certain");
        }

        @Override
        public void ended(LeaseLoss.Cause cause, String detail) {
            told.add("ended");
        }

        @Override
        public void failed(LockException e) {
            told.add("failed");
        }
    }

    private static final class Standing implements LockEngine.Hold {
        @Override
        public Duration ttl() {
            return Duration.ofSeconds(10);
        }

        @Override
        public long deadlineNanos() {
            return 0;
        }

        @Override
        public CompletionStage<Answer> release(long token) {
            return CompletableFuture.completedFuture(Answer.DONE);
        }

        @Override
        public void lapsed(long token) {}

        @Override
        public Optional<String> server() {
            return Optional.empty();
        }
    }
}
