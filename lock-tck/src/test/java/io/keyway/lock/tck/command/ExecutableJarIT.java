// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.command.OddProviders.Defect;
import io.keyway.lock.tck.process.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@code java -jar lock-tck.jar} as a provider's author runs it. */
@Execution(ExecutionMode.CONCURRENT)
class ExecutableJarIT {
    private static final String TWO = "--only=LK-301/a-second,LK-313";

    @TempDir
    Path directory;

    private ChildProcess start(Map<String, String> environment, String... arguments) {
        List<String> words = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-jar",
                Path.of("target", "lock-tck.jar").toAbsolutePath().toString(),
                "--profile=smoke",
                "--report=" + directory.resolve("report")));
        words.addAll(List.of(arguments));
        return ChildProcess.start(environment, words);
    }

    private int exitCode(String... arguments) throws Exception {
        try (ChildProcess kit = start(Map.of(), arguments)) {
            return kit.exitCode();
        }
    }

    @Test
    void aGoodProviderInAFolderOfJarsIsCompatible() throws Exception {
        Path jars = OddProviders.jar(directory, Defect.inTryAcquire("")).getParent();
        try (ChildProcess kit =
                start(Map.of(TckCommand.URL_VARIABLE, "lock:odd://me:hush-hush@h"), TWO, "--provider-path=" + jars)) {
            assertThat(kit.exitCode()).as(kit.out() + kit.err()).isZero();
            assertThat(kit.out())
                    .contains("odd 0.9 at lock:odd://me:***@h", "COMPATIBLE: odd 0.9")
                    .doesNotContain("hush");
        }
        for (String file : List.of("report.html", "junit.xml", "compatibility.json", "compatibility.md")) {
            assertThat(Files.readString(directory.resolve("report").resolve(file)))
                    .as(file)
                    .contains("lock:odd://me:***@h")
                    .doesNotContain("hush");
        }
    }

    @Test
    @Tag("soak")
    void aDefectIsOne() throws Exception {
        Path jar = OddProviders.thatGrantsToEverybody(directory);
        try (ChildProcess kit = start(Map.of(), TWO, "--url=lock:odd://x", "--provider-path=" + jar)) {
            assertThat(kit.exitCode()).as(kit.out() + kit.err()).isOne();
            assertThat(kit.out())
                    .contains("FAIL          LK-301", "look first: Does an attempt look", "NOT COMPATIBLE");
        }
        assertThat(directory.resolve("report/histories")).isDirectoryContaining("glob:**.svg");
    }

    @Test
    @Tag("soak")
    void wrongUsageIsTwoAndAWrongUrlThree() throws Exception {
        try (ChildProcess kit =
                start(Map.of(), "--url=lock:reference://x", "--provider-path=" + directory.resolve("no"))) {
            assertThat(kit.exitCode()).isEqualTo(2);
            assertThat(kit.err()).contains("there is no file or folder " + directory.resolve("no"));
        }
        assertThat(exitCode()).isEqualTo(2);
        assertThat(exitCode("--url=lock:nix://h")).isEqualTo(3);
        assertThat(exitCode("--url=lock:reference://x"))
                .as("what proves the kit is not in it")
                .isEqualTo(3);
    }

    @Test
    @Tag("soak")
    void exclusionsAreFour() throws Exception {
        Path file = Files.writeString(directory.resolve("exclusions"), "LK-313, we are not done, https://h/1\n");
        Path jar = OddProviders.jar(directory, Defect.inTryAcquire(""));
        assertThat(exitCode(TWO, "--url=lock:odd://x", "--provider-path=" + jar, "--exclude=" + file))
                .isEqualTo(4);
        assertThat(Files.readString(directory.resolve("report/compatibility.md")))
                .contains("we are not done (https://h/1)");
    }

    @Test
    void interruptedItTellsWhatItHas() throws Exception {
        Path jar = OddProviders.jar(
                directory, Defect.inTryAcquire("if (name.contains(\"LK-313\")) Thread.sleep(50_000);"));
        try (ChildProcess kit = start(Map.of(), TWO, "--parallel=1", "--url=lock:odd://x", "--provider-path=" + jar)) {
            kit.line("PASS          LK-301");
            kit.signal("INT");
            assertThat(kit.exitCode()).isEqualTo(130);
            assertThat(kit.out()).contains("CANCELLED", "1 of 2 checks");
        }
        assertThat(directory.resolve("report/report.html")).exists();
    }
}
