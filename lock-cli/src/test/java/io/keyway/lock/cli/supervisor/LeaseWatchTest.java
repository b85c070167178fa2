// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.cli.supervisor.LeaseWatch.Step;
import org.junit.jupiter.api.Test;

class LeaseWatchTest {
    private final LeaseWatch watch = new LeaseWatch();

    @Test
    void nothingHappensBeforeADeadlineIsKnown() {
        assertThat(watch.at(1_000)).isEqualTo(Step.WAIT);
        assertThat(watch.nextAt()).isNull();
    }

    @Test
    void theCommandIsAskedToEndAtTheDeadlineAndKilledAGraceLater() {
        watch.deadline(1_000, 100);

        assertThat(watch.at(999)).isEqualTo(Step.WAIT);
        assertThat(watch.nextAt()).isEqualTo(1_000);
        assertThat(watch.at(1_000)).isEqualTo(Step.TERMINATE);
        assertThat(watch.nextAt()).isEqualTo(1_100);
        assertThat(watch.at(1_099)).isEqualTo(Step.WAIT);
        assertThat(watch.at(1_100)).isEqualTo(Step.KILL);
        assertThat(watch.at(1_200)).isEqualTo(Step.KILL);
    }

    @Test
    void anExtensionMovesTheDeadlineButNeverBack() {
        watch.deadline(1_000, 100);
        watch.deadline(2_000, 100);
        watch.deadline(1_500, 100);

        assertThat(watch.at(1_999)).isEqualTo(Step.WAIT);
        assertThat(watch.at(2_000)).isEqualTo(Step.TERMINATE);
    }

    @Test
    void anExtensionThatComesTooLateChangesNothing() {
        watch.deadline(1_000, 100);
        assertThat(watch.at(1_000)).isEqualTo(Step.TERMINATE);
        watch.deadline(5_000, 100);

        assertThat(watch.isOver()).isTrue();
        assertThat(watch.at(1_100)).isEqualTo(Step.KILL);
    }

    @Test
    void oneThatWasHeldUpBeyondTheGraceKillsAtOnceAndCountsFromTheDeadline() {
        watch.deadline(1_000, 100);

        assertThat(watch.at(1_150)).isEqualTo(Step.KILL);
    }

    @Test
    void aLossBeforeTheDeadlineStartsTheGraceThen() {
        watch.deadline(1_000, 100);
        watch.lapsed(500);

        assertThat(watch.at(500)).isEqualTo(Step.TERMINATE);
        assertThat(watch.at(600)).isEqualTo(Step.KILL);
    }

    @Test
    void aLossThatIsToldLateCountsFromTheDeadline() {
        watch.deadline(1_000, 100);
        watch.lapsed(1_090);

        assertThat(watch.at(1_090)).isEqualTo(Step.TERMINATE);
        assertThat(watch.at(1_100)).isEqualTo(Step.KILL);
    }

    @Test
    void aBrokenLockLeavesNoGrace() {
        watch.deadline(1_000, 100);
        watch.kill(500);

        assertThat(watch.at(500)).isEqualTo(Step.KILL);
    }

    @Test
    void aBreakDuringTheGraceEndsIt() {
        watch.deadline(1_000, 100);
        assertThat(watch.at(1_000)).isEqualTo(Step.TERMINATE);
        watch.kill(1_010);

        assertThat(watch.at(1_010)).isEqualTo(Step.KILL);
    }

    @Test
    void timesWrapAround() {
        watch.deadline(Long.MAX_VALUE, 100);

        assertThat(watch.at(Long.MAX_VALUE - 1)).isEqualTo(Step.WAIT);
        assertThat(watch.at(Long.MIN_VALUE)).isEqualTo(Step.TERMINATE);
        assertThat(watch.at(Long.MIN_VALUE + 98)).isEqualTo(Step.WAIT);
        assertThat(watch.at(Long.MIN_VALUE + 99)).isEqualTo(Step.KILL);
    }
}
