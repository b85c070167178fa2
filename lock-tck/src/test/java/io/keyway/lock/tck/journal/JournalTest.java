// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.history.HeldAnswer;
import io.keyway.lock.tck.history.RecordedHold;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {
    @TempDir
    Path directory;

    private Path file;
    private JournalReader reader;

    @BeforeEach
    void name() {
        file = directory.resolve("journal");
        reader = new JournalReader("w", file);
    }

    @Test
    void whatIsWrittenIsRead() throws IOException {
        reader.poll();
        assertThat(reader.holds()).isEmpty();
        try (Journal journal = new Journal(file)) {
            long before = MachineClock.now();
            long id = journal.asked("a/b", LockMode.SHARED);
            long other = journal.asked("c", LockMode.PERMITS, 2, 5);
            long third = journal.asked("d", LockMode.EXCLUSIVE, 7);
            journal.refused(third, "deadlock: a waits for b");
            journal.refused(other, "told: nobody\nanswers");
            journal.granted(id, 42, Duration.ofSeconds(1));
            HeldAnswer held = new HeldAnswer(true, 1, 2, 3);
            journal.answered(id, held);
            reader.poll();
            assertThat(reader.holds()).hasSize(3);
            HeldAnswer gone = new HeldAnswer(false, 4, 5, 0);
            journal.answered(id, gone);
            journal.lost(
                    id,
                    new LeaseLoss(LeaseLoss.Cause.BROKEN, Duration.ofSeconds(2), Optional.empty(), "by an operator"));
            journal.untold(id);
            journal.releasing(id);
            journal.released(id, ReleaseOutcome.ALREADY_LOST);
            reader.poll();
            reader.poll();
            RecordedHold hold = reader.holds().get(0);
            assertThat(hold.name()).isEqualTo("a/b");
            assertThat(hold.mode()).isEqualTo(LockMode.SHARED);
            assertThat(hold.isGranted()).isTrue();
            assertThat(hold.token()).isEqualTo(42);
            assertThat(hold.ttl()).isEqualTo(1_000_000_000L);
            assertThat(hold.asked()).isBetween(before, hold.got());
            assertThat(hold.answers()).containsExactly(held, gone);
            assertThat(hold.losses()).singleElement().satisfies(loss -> {
                assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.BROKEN);
                assertThat(loss.at()).isBetween(hold.got(), hold.releaseCalledAt());
            });
            assertThat(hold.isUntold()).isTrue();
            assertThat(hold.outcome()).contains(ReleaseOutcome.ALREADY_LOST);
            assertThat(hold.endedAt()).isGreaterThanOrEqualTo(hold.releaseCalledAt());
            assertThat(reader.holds().get(1).isGranted()).isFalse();
            assertThat(reader.holds().get(1).isEnded()).isTrue();
            assertThat(reader.holds().get(1).show(0)).contains("2 of 5 permits");
            assertThat(hold.transaction()).isZero();
            assertThat(reader.holds().get(2).transaction()).isEqualTo(7);
            assertThat(reader.deadlocks()).isEqualTo(1);
            assertThat(reader.refusals()).containsExactly("told: nobody answers");
            assertThat(reader.grants()).isEqualTo(1);
        }
    }

    @Test
    void whatIsOverLongAgoIsForgottenWithWhatIsStillSaidOfIt() throws IOException {
        Files.writeString(file, """
                asked 1 n EXCLUSIVE 1 1 1
                asked 2 n EXCLUSIVE 1 1 1
                granted 1 7 1000 2
                releasing 1 3
                released 1 RELEASED 4
                """);
        reader.poll();
        reader.forget(4);
        assertThat(reader.holds()).hasSize(2);
        reader.forget(5);
        Files.writeString(file, "untold 1\ngranted 2 8 1000 6\n", StandardOpenOption.APPEND);
        reader.poll();
        assertThat(reader.holds())
                .singleElement()
                .satisfies(hold -> assertThat(hold.token()).isEqualTo(8));
    }

    @Test
    void halfALineWaitsForItsEnd() throws IOException {
        Files.writeString(file, "asked 1 n EXCLUSIVE 5 1 1\ngranted 1 7 1000 ");
        reader.poll();
        assertThat(reader.holds())
                .singleElement()
                .satisfies(hold -> assertThat(hold.isGranted()).isFalse());
        Files.writeString(file, "6\n", StandardOpenOption.APPEND);
        reader.poll();
        assertThat(reader.holds())
                .singleElement()
                .satisfies(hold -> assertThat(hold.token()).isEqualTo(7));
    }

    @Test
    void whatIsNoJournalIsAnError() throws IOException {
        Files.writeString(file, "granted 1 7 1000 6\n");
        assertThatThrownBy(() -> reader.poll())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no request 1");
    }
}
