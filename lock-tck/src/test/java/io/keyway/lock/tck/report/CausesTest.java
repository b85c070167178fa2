// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which failures are taken for one. */
class CausesTest {
    private static final String UNAVAILABLE = "unexpected io.grpc.StatusRuntimeException: UNAVAILABLE: connection to ";

    private static final TckResult RESULT = Samples.result(
            failed("LK-101/own", "a name was refused"),
            failed("LK-302/law", "LK-302 (belief exclusion): two believed"),
            failed("LK-303/other", "the lock is taken; its history breaks LK-302 (belief exclusion): two believed"),
            failed("LK-401/thrown", UNAVAILABLE + "10.0.0.1:2379 after 12 ms"),
            failed("LK-402/thrown", UNAVAILABLE + "10.0.0.2:2379 after 7 ms"),
            failed(
                    "LK-403/thrown",
                    "an acquire threw io.grpc.StatusRuntimeException: UNAVAILABLE: connection to 10.0.0.1:1 after 9 "
                            + "ms"),
            failed("LK-404/differently", "unexpected java.lang.IllegalStateException: not started"),
            Samples.check("LK-405/fine", Verdict.PASS, ""));

    private static CheckResult failed(String id, String message) {
        return Samples.check(id, Verdict.FAIL, message);
    }

    @Test
    void whatBreaksOneLawOrThrowsTheSameIsOne() {
        Map<String, List<CheckResult>> causes = Causes.of(RESULT);
        assertThat(causes.values().stream().map(List::size)).containsExactly(3, 2, 1, 1);
        assertThat(causes.keySet())
                .satisfiesExactly(
                        thrown -> assertThat(thrown)
                                .startsWith("a call threw io.grpc.StatusRuntimeException: UNAVAILABLE"),
                        law -> assertThat(law).isEqualTo("the history breaks LK-302"),
                        own -> assertThat(own).isEqualTo("LK-101/own: a name was refused"),
                        other -> assertThat(other)
                                .isEqualTo("a call threw java.lang.IllegalStateException: not started"));
    }

    @Test
    void theTableSaysItBeforeThem() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ConsoleTable(new PrintStream(bytes, true, StandardCharsets.UTF_8), Optional.empty()).summary(RESULT);
        assertThat(bytes.toString(StandardCharsets.UTF_8))
                .contains("  the history breaks LK-302 (2, perhaps for one reason)\n    LK-302/law: LK-302 (belief")
                .contains("\n  LK-101/own: a name was refused\n");
    }

    @Test
    void loopsThatEndedAreCountedOverAllChecks() {
        assertThat(Summary.loops(RESULT)).isEmpty();
        TckResult ended =
                Samples.result(noted("LK-301/a", "[messages threw java.io.IOException: 5]"), noted("LK-302/b", ""));
        assertThat(Summary.loops(ended)).get().asString().contains("ended 6 times in 2 checks");
    }

    private static CheckResult noted(String id, String how) {
        CheckResult plain = Samples.check(id, Verdict.PASS, "");
        return new CheckResult(
                plain.id(),
                plain.rules(),
                plain.level(),
                plain.verdict(),
                plain.took(),
                "",
                plain.hint(),
                Optional.empty(),
                Optional.empty(),
                List.of("3 of 40 rounds", CheckResult.LOOPS_ENDED + "3 " + how),
                0);
    }
}
