// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildProcess;
import org.junit.jupiter.api.Test;

/** Commands that run while they lead. */
class ElectionStoriesTest extends Stories {
    private ChildProcess elect(String candidate, String script) {
        return stage.start(stage.directory, "keyway", "elect", "--as", candidate, "service", "--", "sh", "-c", script);
    }

    @Test
    void aLeaderThatIsDeposedStandsAgainBehindTheNext() throws Exception {
        play(LONG);
        ChildProcess first = elect("one", stage.stubborn("A"));
        stage.awaitBeat("A");
        ChildProcess second = elect("two", stage.untilGo("B"));
        second.errLine("waiting for service, held by");
        ChildProcess shown;
        do {
            shown = stage.start(stage.directory, "keyway", "elect", "--show", "service");
            assertThat(shown.exitCode()).isZero();
        } while (!shown.out().contains("two"));
        assertThat(shown.out()).startsWith("leads   one ").contains("\nstands  two ");

        ChildProcess broken = stage.start(stage.directory, "keyway", "break", "--reason", "the test", "service");

        assertThat(broken.exitCode()).isZero();
        stage.awaitBeat("B");
        first.errLine("standing for service again");
        stage.go();
        assertThat(second.exitCode()).isZero();
        first.errLine("one leads service under token");
        stage.awaitBeat("A");
        first.kill9();
        stage.assertRanOneAfterTheOther("A", "B", "A");
    }
}
