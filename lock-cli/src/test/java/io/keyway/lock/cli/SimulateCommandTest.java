// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.cli.supervisor.CommandClock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** `keyway simulate` where a promise breaks: a machine sleeps, and its client believes by a clock that slept too. */
class SimulateCommandTest {
    private static final String ASLEEP = """
        options seed=7 profile=LEASE budget=STEADY members=1 spares=0 clients=3 users=1 names=2 ordered=true \
        latency=2000000 jitter=500000 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 lateness=0 \
        diskLatency=1000000 faultPhase=8000000000 faults=4 acts=7 maxTtl=2000000000 drift=0 outOfSpec=false \
        purityPerMille=0
        fault SUSPEND at 1200ms for 3s node 1 amount 0
        fault PAUSE at 400ms for 90ms node 3 amount 0
        fault CUT at 1s for 4s node 1 amount 0
        fault RESET at 3s for 5ms node 2 amount 0
        act lock at 300ms client 3 user 0 name 1 wait 0ns hold 50ms
        act lock at 700ms client 2 user 0 name 1 wait 0ns hold 20ms
        act lock at 900ms client 1 user 0 name 0 wait 0ns hold 5s
        act lock at 1200ms client 2 user 0 name 0 wait 0ns hold 400ms
        act lock at 1300ms client 3 user 0 name 0 wait 0ns hold 20ms
        act lock at 4s client 3 user 0 name 1 wait 0ns hold 20ms
        act lock at 5s client 2 user 0 name 1 wait 0ns hold 20ms
        """;

    private static final String NEEDED = """
        fault SUSPEND at 1200ms for 3s node 1 amount 0
        act lock at 900ms client 1 user 0 name 0 wait 0ns hold 5s
        act lock at 1200ms client 2 user 0 name 0 wait 0ns hold 400ms
        listed mishaps 0
        """;

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private int simulate(String... words) {
        PrintStream lines = new PrintStream(out, true, StandardCharsets.UTF_8);
        Console console = new Console(lines, lines, false, false, Map.of(), CommandClock.SYSTEM);
        List<String> all = new ArrayList<>(List.of("simulate"));
        all.addAll(List.of(words));
        return new CommandTree(console).execute(all.toArray(String[]::new));
    }

    private String printed() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lease", "lamport", "bakery", "failover", "bucket"})
    void aChartIsInWords(String algorithm) {
        assertThat(simulate("--algorithm", algorithm, "--seed", "1")).isZero();
        assertThat(printed()).contains("Hello attempt=").doesNotContain("\0", "Key[", "Hello[", "nonce");
    }

    @Test
    void aFaultIsInWords() {
        assertThat(simulate("--algorithm", "lease", "--seed", "7", "--clients", "3", "--faults", "cut,crash"))
                .isZero();
        assertThat(printed()).containsPattern("fault: crash, for \\d+ms").doesNotContain("amount");
    }

    @Test
    void whatABrokenPromiseNeedsIsDrawnAndCanBeRunAgain() throws IOException {
        Path plan = Files.writeString(directory.resolve("asleep.plan"), ASLEEP);
        Path page = directory.resolve("run.html");

        assertThat(simulate("--plan", plan.toString(), "--shrink", "--html", page.toString()))
                .isEqualTo(ExitCode.RULE_BROKEN);
        assertThat(printed())
                .contains("violates R1: ")
                .contains("Shrunk from 11 to 3 faults, operations and mishaps.")
                .contains("Again: keyway simulate --plan " + plan + " --shrink")
                .doesNotContain("client3")
                .contains(NEEDED);
        assertThat(Files.readString(page)).contains("asleep.plan; shrunk").contains("violates R1: ");

        String left = printed()
                .substring(printed().indexOf("options seed="), printed().indexOf("keyway: wrote"));
        Path small = Files.writeString(directory.resolve("small.plan"), left);
        out.reset();
        assertThat(simulate("--plan", small.toString(), "--lines", "1")).isEqualTo(ExitCode.RULE_BROKEN);
        assertThat(printed()).contains("violates R1: ");
    }

    @Test
    void aRunThatKeepsItsPromisesHasNothingToShrink() {
        assertThat(simulate("--seed", "7", "--faults", "cut", "--shrink", "--lines", "0"))
                .isEqualTo(ExitCode.OK);
        assertThat(printed()).contains("All oracles hold").doesNotContain("Shrunk");
    }
}
