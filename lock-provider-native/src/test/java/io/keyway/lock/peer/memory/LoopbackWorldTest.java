// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LoopbackWorldTest {
    @Test
    void whoWaitsForAWorldThatFailsIsToldWhy() {
        LoopbackWorld world = new LoopbackWorld("failing", true);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> world.member(() -> {
                        throw new AssertionError("on purpose");
                    }))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("this world has ended")
                    .hasRootCauseMessage("on purpose");
        }
        world.close();
    }

    @Test
    void anAlarmThatFailsEndsNeitherTheWorldNorTheOthers() {
        try (LoopbackWorld world = new LoopbackWorld("alarmed", true)) {
            CompletableFuture<String> other = new CompletableFuture<>();
            world.at(5, () -> {
                throw new AssertionError("on purpose");
            });
            world.at(5, () -> other.complete("rang"));

            assertThat(world.step(10)).isTrue();
            assertThat(world.step(10)).isFalse();

            assertThat(other).isCompletedWithValue("rang");
        }
    }

    @Test
    void whoMovesTheClockAndWaitsWithALimitMovesItThereAndNoFurther() throws Exception {
        try (LoopbackWorld world = new LoopbackWorld("limited", true)) {
            WorldTime time = new WorldTime(world, "mem:limited", Duration.ofSeconds(5), 0);
            CompletableFuture<String> never = new CompletableFuture<>();
            CompletableFuture<String> soon = new CompletableFuture<>();
            time.at(3, () -> soon.complete("granted"));

            assertThat(time.await(soon, 10)).isEqualTo("granted");
            assertThat(time.nanoTime()).isEqualTo(3);
            assertThatThrownBy(() -> time.await(never, 10)).isInstanceOf(TimeoutException.class);
            assertThat(time.nanoTime()).isEqualTo(10);
            assertThat(never).isNotDone();
        }
    }
}
