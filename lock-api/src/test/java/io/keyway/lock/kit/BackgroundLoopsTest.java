// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.reference.ManualTime;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BackgroundLoopsTest {

    private final ManualTime time = new ManualTime();
    private final BackgroundLoops loops = new BackgroundLoops("loops", time);

    @Test
    void aLoopThatFailsIsRunAgainAfterAPause() {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch forever = new CountDownLatch(1);
        loops.start("subscription", () -> {
            if (runs.incrementAndGet() < 3) {
                throw new IllegalStateException("on purpose");
            }
            forever.await();
        });
        for (int run = 1; run < 3; run++) {
            await().atMost(ReferenceClients.PATIENCE).until(() -> time.armed() == 1);
            assertThat(runs).hasValue(run);
            // No further than this pause: the loop may fail again, and wait, before the call returns.
            time.advance(Duration.ofMillis(100L * run));
        }
        await().atMost(ReferenceClients.PATIENCE).until(() -> runs.get() == 3);
        assertThat(ReferenceClients.threadsOf("loops")).containsExactly("keyway-loops-subscription");
        loops.close(Duration.ofSeconds(20));
        assertThat(ReferenceClients.threadsOf("loops")).isEmpty();
    }

    @Test
    void nothingStartsAfterClose() {
        loops.close(Duration.ofSeconds(1));
        loops.start("late", () -> {
            throw new AssertionError("must not run");
        });
        assertThat(ReferenceClients.threadsOf("loops")).isEmpty();
    }
}
