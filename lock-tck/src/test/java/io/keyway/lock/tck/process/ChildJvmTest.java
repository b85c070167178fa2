// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChildJvmTest {
    @Test
    void itAnswersLineByLineAndEndsWithItsStatus() throws Exception {
        try (ChildJvm parrot = ChildJvm.start(List.of("-Dparrot=grey"), Parrot.class, "said")) {
            assertThat(parrot.await("ready")).isEqualTo("grey");
            assertThat(parrot.ask("a b", "said")).isEqualTo("a b");
            parrot.tell("skipped");
            parrot.tell("said");
            assertThat(parrot.await("said said")).isEmpty();
            parrot.tell("end");
            assertThat(parrot.await("ending")).as("standard error").isEmpty();
            assertThat(parrot.awaitExit()).isEqualTo(7);
            assertThat(parrot.isAlive()).isFalse();
        }
    }

    @Test
    void anAnswerThatCannotComeAnyMoreIsNotWaitedForAndTheErrorShowsWhatCame() throws Exception {
        try (ChildJvm parrot = ChildJvm.start(Parrot.class)) {
            parrot.tell("end");
            assertThatThrownBy(() -> parrot.await("never"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("Parrot")
                    .hasMessageContaining("ended without the line 'never'")
                    .hasMessageContaining("ready plain");
            parrot.awaitExit();
            assertThatThrownBy(() -> parrot.tell("anything")).isInstanceOf(UncheckedIOException.class);
        }
    }

    @Test
    void itIsStoppedContinuedAndKilled() throws Exception {
        try (ChildJvm parrot = ChildJvm.start(Parrot.class, "said")) {
            parrot.await("ready");
            parrot.stop();
            assertThat(Signals.isStopped(parrot.pid())).isTrue();
            assertThat(Signals.lives(parrot.pid())).isTrue();
            parrot.tell("late");
            parrot.cont();
            assertThat(parrot.await("said")).isEqualTo("late");
            parrot.stop();
            parrot.kill9();
            assertThat(parrot.isAlive()).isFalse();
            assertThat(parrot.awaitExit()).isEqualTo(137);
        }
    }

    @Test
    void aSignalToNobodyIsAnError() throws Exception {
        ChildJvm parrot = ChildJvm.start(Parrot.class);
        parrot.close();
        assertThat(Signals.lives(parrot.pid())).isFalse();
        assertThatThrownBy(() -> Signals.send("CONT", parrot.pid()))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("kill -CONT " + parrot.pid());
    }
}
