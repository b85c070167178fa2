// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A command under several locks. */
class SeveralStoriesTest extends Stories {
    @Test
    void theOrderInWhichTheyAreNamedDoesNotMatter() throws Exception {
        play(LONG);
        ChildProcess first = stage.start(
                stage.directory, "keyway", "run", "--lock", "a", "--lock", "b", "--", "sh", "-c", stage.untilGo("A"));
        stage.awaitBeat("A");
        ChildProcess second = stage.start(
                stage.directory,
                "keyway",
                "run",
                "--lock",
                "b",
                "--lock",
                "a",
                "--",
                "sh",
                "-c",
                stage.times(5, "B") + "; echo \"$KEYWAY_NAMES\"");
        ChildProcess alone = stage.run("b", stage.times(5, "C"));
        second.errLine("waiting for a, held by");
        alone.errLine("waiting for b, held by");

        stage.go();

        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        assertThat(alone.exitCode()).isZero();
        assertThat(second.out()).contains("a\nb");
        stage.assertRanOneAfterTheOtherInAnyOrder("A", "B", "C");
    }

    @Test
    @Tag("soak")
    void oneThatIsBrokenEndsTheCommand() throws Exception {
        play(LONG);
        ChildProcess run = stage.start(
                stage.directory, "keyway", "run", "--lock", "a", "--lock", "b", "--", "sh", "-c", stage.stubborn("A"));
        stage.awaitBeat("A");

        ChildProcess broken = stage.start(stage.directory, "keyway", "break", "--reason", "the test", "b");

        assertThat(broken.exitCode()).isZero();
        assertThat(run.exitCode()).isEqualTo(123);
        assertThat(run.err()).contains("the locks a, b were lost (the lease of b: broken: the test)");
        ChildProcess next = stage.run("a", stage.times(3, "B"));
        assertThat(next.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }
}
