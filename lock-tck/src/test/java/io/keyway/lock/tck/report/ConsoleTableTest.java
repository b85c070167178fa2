// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConsoleTableTest {
    @TempDir
    Path directory;

    private static String printed(Path directory, TckResult result) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
            ConsoleTable table = new ConsoleTable(out, Optional.ofNullable(directory));
            if (result.trouble().isEmpty()) {
                table.opened(result);
                table.planned(result.checks().size());
            }
            result.checks().forEach(table::finished);
            table.summary(result);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aRunIsALineForEachCheckAndASummary() {
        TckResult result = Samples.result(
                Samples.check("LK-101/a-name-is-a-path", Verdict.PASS, ""),
                Samples.failure("LK-301/nobody-holds-twice", List.of("LK-301"), "two hold\nat 3 ms", "the history"),
                Samples.check("LK-901/shared", Verdict.NOT_APPLICABLE, "the provider does not declare read-write"),
                Samples.check("LK-1510/a-restart", Verdict.NOT_RUN, "no server"),
                Samples.check("LK-1511/another-restart", Verdict.NOT_RUN, "no server"));
        assertThat(printed(directory, result)).isEqualTo("""
                        Sample locks 1.2 at lock:sample://h:1?password=***
                        profile smoke, seed 7, time factor 1, TCK 0.1
                        5 checks

                        PASS          LK-101   a name is a path  1.2 s
                        FAIL          LK-301   nobody holds twice  1.2 s
                                      two hold
                                      at 3 ms
                                      look first: Is looking and taking one step?
                                      evidence: DIR/histories/LK-301-nobody-holds-twice.txt
                        NOT_RUN       LK-1510  a restart  1.2 s
                                      no server
                        NOT_RUN       LK-1511  another restart  1.2 s
                                      no server

                        not run:
                          no server (2)
                            LK-1510/a-restart
                            LK-1511/another-restart

                        not applicable:
                          the provider does not declare read-write (1)
                            LK-901/shared

                        failed:
                          LK-301/nobody-holds-twice: two hold

                        NOT COMPATIBLE: Sample locks 1.2 at lock:sample://h:1?password=***
                        At least one check has failed.
                        1 passed, 1 failed, 1 not applicable, 2 not run; 5.4 s, seed 7
                        report: DIR/report.html
                        """.replace("DIR", directory.toString()));
    }

    @Test
    void theEvidenceOfAFailureIsThereAsSoonAsItIsNamed() {
        CheckResult check =
                Samples.failure("LK-301/nobody-holds-twice", List.of("LK-301"), "two hold", "0 ms  a asked");
        new ConsoleTable(
                        new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8),
                        Optional.of(directory))
                .finished(check);
        assertThat(directory.resolve("histories/LK-301-nobody-holds-twice.txt"))
                .content()
                .contains("two hold", "look first: Is looking", "0 ms  a asked");
        assertThat(Files.exists(directory.resolve("histories/LK-301-nobody-holds-twice.svg")))
                .isTrue();
    }

    @Test
    void eachOutcomeHasItsWord() {
        CheckResult passed = Samples.check("LK-101/a", Verdict.PASS, "");
        assertThat(printed(null, Samples.result(passed))).contains("\nCOMPATIBLE: Sample locks 1.2 at");
        assertThat(printed(null, Samples.result(passed, Samples.check("LK-102/b", Verdict.EXCLUDED, "LK-102: a bug"))))
                .contains("\nINCOMPLETE: ", "a run with exclusions never says compatible");
        assertThat(printed(
                        null, Samples.result(passed, Samples.check("LK-102/b", Verdict.INCONCLUSIVE, "stood still"))))
                .contains("\nINCOMPLETE: ", "ended without a verdict");
        assertThat(printed(
                        null,
                        Samples.result(Optional.of(
                                new TckResult.Trouble(TckResult.Trouble.Kind.CANNOT_OPEN, "no such host")))))
                .startsWith("CANNOT OPEN: ")
                .contains("No check was made: no such host");
        assertThat(printed(
                        null,
                        Samples.result(
                                Optional.of(new TckResult.Trouble(TckResult.Trouble.Kind.CANCELLED, "by hand")),
                                passed)))
                .contains("CANCELLED: ");
    }
}
