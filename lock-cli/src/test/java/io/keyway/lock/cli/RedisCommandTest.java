// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.redis.server.RedisServer;
import io.keyway.lock.tck.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command with locks in a real Redis. */
class RedisCommandTest {
    @TempDir
    private Path directory;

    private RedisServer server;
    private Stage stage;

    @BeforeEach
    void play() throws Exception {
        server = RedisServer.start(directory);
        stage = new Stage(directory, "");
    }

    @AfterEach
    void clear() throws Exception {
        stage.close();
        server.close();
    }

    @Test
    void aCommandRunsAndIsShownAndBroken() throws Exception {
        ChildProcess first = run("", "n", stage.forever("A"));
        stage.awaitBeat("A");

        ChildProcess shown = keyway("show", "n");
        assertThat(shown.exitCode()).as(shown.err()).isZero();
        assertThat(shown.out()).contains("held by").contains("token");

        ChildProcess broken = keyway("break", "n", "--reason", "maintenance");
        assertThat(broken.exitCode()).as(broken.err()).isZero();
        assertThat(first.exitCode()).isEqualTo(123);
        assertThat(first.err()).contains("maintenance");
        assertThat(keyway("run", "--wait", "20s", "n", "--", "true").exitCode()).isZero();
    }

    @Test
    @Tag("soak")
    void aJobIsKeptForAsLongAsItSaysThoughItEndedOrWasKilled() throws Exception {
        ChildProcess done = keyway("run", "--at-least", "1h", "done", "--", "true");
        assertThat(done.exitCode()).as(done.err()).isZero();
        assertThat(keyway("run", "--wait", "0s", "done", "--", "true").exitCode())
                .isEqualTo(124);
        ChildProcess shown = keyway("show", "done");
        assertThat(shown.exitCode()).as(shown.err()).isZero();
        assertThat(shown.out()).contains("kept after").contains("free in 59m");

        ChildProcess killed =
                keyway("run", "--at-least", "5s", "--ttl", "500ms", "killed", "--", "sh", "-c", stage.stubborn("A"));
        stage.awaitBeat("A");
        killed.signal("KILL");
        ChildProcess next = run("", "killed", stage.times(2, "B"));
        assertThat(next.exitCode()).as(next.err()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");

        assertThat(keyway("break", "done", "--reason", "again").exitCode()).isZero();
        assertThat(keyway("run", "--wait", "0s", "done", "--", "true").exitCode())
                .isZero();
    }

    @Test
    @Tag("soak")
    void aJobThatCannotBeStartedKeepsNobodyFromIt() throws Exception {
        String missing = stage.directory.resolve("missing").toString();
        ChildProcess failed = keyway("run", "--at-least", "1h", "n", "--", missing);
        assertThat(failed.exitCode()).as(failed.err()).isEqualTo(127);
        ChildProcess other = keyway("run", "--wait", "0s", "n", "--", "true");
        assertThat(other.exitCode()).as(other.err()).isZero();
    }

    /** Not those of its warm-up, which are some hundreds. */
    @Test
    @Tag("soak")
    void aLoadCountsItsOwnRequests() throws Exception {
        ChildProcess load = stage.start(
                stage.directory,
                "keyway",
                "load",
                server.url(),
                "--clients",
                "1",
                "--ops",
                "10",
                "--locks",
                "1",
                "--json");
        assertThat(load.exitCode()).as(load.err()).isZero();
        Matcher requests = Pattern.compile("\"requests\":(\\d+)").matcher(load.out());
        assertThat(requests.find()).as(load.out()).isTrue();
        assertThat(Long.parseLong(requests.group(1))).isBetween(10L, 60L);
    }

    @Test
    @Tag("soak")
    void twoCommandsUnderOneLockTakeTurns() throws Exception {
        ChildProcess first = run("", "n", stage.untilGo("A"));
        stage.awaitBeat("A");
        ChildProcess second = run("", "n", stage.times(10, "B"));
        second.errLine("waiting for n");
        stage.go();
        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        stage.assertRanOneAfterTheOther("A", "B");
    }

    @Test
    @Tag("soak")
    void commandsThatShareRunTogetherAndKeepTheWriterOut() throws Exception {
        ChildProcess first = run("--shared", "n", stage.untilGo("A"));
        ChildProcess second = run("--shared", "n", stage.untilGo("B"));
        stage.awaitBeat("A");
        stage.awaitBeat("B");
        stage.awaitBeat("A");

        ChildProcess writer = keyway("run", "--wait", "0s", "n", "--", "true");
        assertThat(writer.exitCode()).isEqualTo(124);
        stage.go();
        assertThat(first.exitCode()).isZero();
        assertThat(second.exitCode()).isZero();
        assertThat(keyway("run", "--wait", "0s", "n", "--", "true").exitCode()).isZero();
    }

    @Test
    @Tag("soak")
    void permitsAreTakenAndShown() throws Exception {
        ChildProcess first = run("--permits=2/3", "n", stage.untilGo("A"));
        stage.awaitBeat("A");

        assertThat(keyway("run", "--permits=2/3", "--wait", "0s", "n", "--", "true")
                        .exitCode())
                .isEqualTo(124);
        assertThat(keyway("run", "--permits=1/3", "--wait", "0s", "n", "--", "true")
                        .exitCode())
                .isZero();
        assertThat(keyway("run", "--wait", "0s", "n", "--", "true").exitCode())
                .as("a lock of that name is something else")
                .isZero();
        ChildProcess shown = keyway("show", "n");
        assertThat(shown.exitCode()).isZero();
        assertThat(shown.out()).contains("2 permits");
        stage.go();
        assertThat(first.exitCode()).isZero();
    }

    @Test
    @Tag("soak")
    void aCommandIsEndedWhenItsServerIsGoneForTooLong() throws Exception {
        ChildProcess first = keyway("run", "--ttl", "2s", "n", "--", "sh", "-c", stage.forever("A"));
        stage.awaitBeat("A");
        server.kill();
        assertThat(first.exitCode()).isEqualTo(123);
        assertThat(first.err())
                .contains("the lock n was lost (")
                .contains(" has not answered for 1.5s); sh was ended.");
    }

    @Test
    @Tag("soak")
    void aKeywayThatIsKilledBlocksForItsTtl() throws Exception {
        ChildProcess first = keyway("run", "--ttl", "2s", "n", "--", "sh", "-c", stage.stubborn("A"));
        stage.awaitBeat("A");
        first.signal("KILL");
        ChildProcess second = run("", "n", stage.times(10, "B"));
        assertThat(second.exitCode()).isZero();
        Awaitility.await().until(() -> stage.count("B") == 10);
        stage.assertRanOneAfterTheOther("A", "B");
    }

    private ChildProcess run(String option, String lock, String script) throws IOException {
        List<String> words = new ArrayList<>(List.of("run"));
        if (!option.isEmpty()) {
            words.add(option);
        }
        words.addAll(List.of(lock, "--", "sh", "-c", script));
        return keyway(words.toArray(String[]::new));
    }

    private ChildProcess keyway(String... words) {
        List<String> all = new ArrayList<>(List.of("keyway", words[0], "--url", server.url()));
        all.addAll(List.of(words).subList(1, words.length));
        return stage.start(stage.directory, all.toArray(String[]::new));
    }
}
