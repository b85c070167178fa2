// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLoss.Cause;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** An end that comes while a grant is being handed out is told, once, after it. */
class LeaseStateTest {

    private static final class Word extends LeaseState {
        private final AtomicInteger losses = new AtomicInteger();

        @Override
        void onLost(LeaseLoss loss) {
            losses.incrementAndGet();
        }

        @Override
        void onReleased() {}

        @Override
        LeaseLoss goneBeforeRelease() {
            return lost(Cause.BROKEN, "");
        }

        void granted() {
            EarlyEnd early = begin();
            if (early != null) {
                ended(early);
            }
        }

        void ended(EarlyEnd end) {
            if (phase() != Phase.PENDING || !keep(end)) {
                boolean unused = lose(lost(end.cause(), end.detail()));
            }
        }
    }

    private static LeaseLoss lost(Cause cause, String detail) {
        return new LeaseLoss(cause, Duration.ZERO, Optional.empty(), detail);
    }

    @Test
    void anEndBeforeTheBeginningIsKeptForIt() {
        Word word = new Word();

        word.ended(new LeaseState.EarlyEnd(Cause.BROKEN, "for a test"));

        assertThat(word.phase()).isEqualTo(LeaseState.Phase.PENDING);
        assertThat(word.losses).hasValue(0);
        word.granted();
        assertThat(word.phase()).isEqualTo(LeaseState.Phase.LOST);
        assertThat(word.loss()).isEqualTo(lost(Cause.BROKEN, "for a test"));
        assertThat(word.losses).hasValue(1);
    }

    @Test
    void anEndThatMeetsTheBeginningIsToldOnce() throws Exception {
        for (int i = 0; i < 100; i++) {
            Word word = new Word();
            CountDownLatch both = new CountDownLatch(2);
            CompletableFuture<Void> end = CompletableFuture.runAsync(() -> {
                meet(both);
                word.ended(new LeaseState.EarlyEnd(Cause.BROKEN, ""));
            });
            meet(both);
            word.granted();
            end.get();

            assertThat(word.phase()).isEqualTo(LeaseState.Phase.LOST);
            assertThat(word.losses).hasValue(1);
        }
    }

    private static void meet(CountDownLatch both) {
        both.countDown();
        while (both.getCount() > 0) {
            Thread.onSpinWait();
        }
    }
}
