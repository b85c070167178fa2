// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** How many answers decide what became of the release of a lock over nodes. */
class ReleasesTest {
    private static final TimeSource TIME = new StillTime();

    /** Answered when the test says so. */
    private static final class Part implements Releasable {
        final CompletableFuture<ReleaseOutcome> answer = new CompletableFuture<>();
        int sent;

        @Override
        public ReleaseOutcome release() {
            throw new AssertionError("waits for one part");
        }

        @Override
        public CompletionStage<ReleaseOutcome> sendRelease() {
            sent++;
            return answer;
        }

        @Override
        public void close() {
            throw new AssertionError("waits for one part");
        }
    }

    private final List<Part> parts = new ArrayList<>();
    private int lost;

    private CompletableFuture<ReleaseOutcome> release(int held) {
        for (int i = 0; i < held; i++) {
            parts.add(new Part());
        }
        return new Releases(List.copyOf(parts), 2, () -> lost++)
                .releaseAsync(TIME)
                .toCompletableFuture();
    }

    private void answers(int part, ReleaseOutcome outcome) {
        parts.get(part).answer.complete(outcome);
    }

    /** The third one may be away. */
    @Test
    void aMajoritySaysThatItIsReleased() {
        CompletableFuture<ReleaseOutcome> outcome = release(3);
        assertThat(parts).allMatch(part -> part.sent == 1);
        answers(2, ReleaseOutcome.RELEASED);
        assertThat(outcome).isNotDone();
        answers(0, ReleaseOutcome.RELEASED);
        assertThat(outcome).isCompletedWithValue(ReleaseOutcome.RELEASED);
    }

    @Test
    void whereNoMajoritySaysSoAllAreWaitedFor() {
        CompletableFuture<ReleaseOutcome> outcome = release(3);
        answers(0, ReleaseOutcome.UNKNOWN);
        answers(1, ReleaseOutcome.RELEASED);
        assertThat(outcome).isNotDone();
        answers(2, ReleaseOutcome.ALREADY_LOST);
        assertThat(outcome)
                .as("the one that did not answer may have held it")
                .isCompletedWithValue(ReleaseOutcome.UNKNOWN);
        assertThat(lost).isZero();
    }

    @Test
    void whatTooFewNodesCanHaveHeldWasLost() {
        CompletableFuture<ReleaseOutcome> outcome = release(3);
        answers(0, ReleaseOutcome.ALREADY_LOST);
        answers(1, ReleaseOutcome.UNKNOWN);
        answers(2, ReleaseOutcome.ALREADY_LOST);
        assertThat(outcome).isCompletedWithValue(ReleaseOutcome.ALREADY_LOST);
        assertThat(lost).isEqualTo(1);
    }

    @Test
    void whatIsHeldAtTooFewNodesWasLost() {
        assertThat(release(1)).isCompletedWithValue(ReleaseOutcome.ALREADY_LOST);
        assertThat(parts.get(0).sent).isEqualTo(1);
    }
}
