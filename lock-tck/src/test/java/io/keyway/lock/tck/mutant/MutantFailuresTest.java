// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Level;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Which rules a whole quick run says that a mutant breaks, beside the one that it must: all that it says is recorded,
 * so that a check that comes to find more, or less, is seen. {@code -Dmutants.record=true} writes the record anew.
 *
 * <p>Two kinds of checks have no place in it. Of the statistical ones chance decides which fail. And those that look at
 * all threads of the JVM would see the mutants that run beside. Nor has a mutant that waits on the machine's clock, nor
 * what a mutant that errs after a random pause breaks in some runs only.
 */
@Tag("soak")
class MutantFailuresTest {

    private static final Path RECORD = Path.of("src/test/resources/io/keyway/lock/tck/mutant/failures.txt");
    private static final String TITLE =
            "# The rules that a quick run finds broken, by mutant. Written by MutantFailuresTest: "
                    + "-Dmutants.record=true\n";
    private static final Duration HANGS = Duration.ofSeconds(3);
    private static final int BESIDE = 6;
    private static final String WAITS = "attempt-waits";
    private static final Map<String, Set<String>> IN_SOME_RUNS = Map.of(
            "capacity-of-the-first-attempt",
            Set.of("LK-401", "LK-601"),
            "interrupt-unheard-in-silence",
            Set.of("LK-404"),
            "place-lost-after-ttl",
            Set.of("LK-408"),
            "term-capped",
            Set.of("LK-301", "LK-310"),
            "term-rounded-up",
            Set.of("LK-401", "LK-410"),
            "told-turn-has-no-age",
            Set.of("LK-513"));
    private static final Map<String, String> WHOLE_JVM = Map.of(
            "LK-212/looking-for-providers-starts-nothing", "it looks at all threads",
            "LK-1004/after-close-no-thread-of-the-client-is-left", "it looks at all threads");

    @Test
    void allThatIsFoundIsWhatWasRecorded() throws Exception {
        String found = record();
        if (Boolean.getBoolean("mutants.record")) {
            Files.createDirectories(RECORD.getParent());
            Files.writeString(RECORD, found);
        }
        assertThat(found).isEqualTo(Files.readString(RECORD));
    }

    private static String record() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(BESIDE);
        try {
            List<Future<String>> lines = new ArrayList<>();
            for (Mutant mutant : Mutants.ALL) {
                if (!mutant.name().equals(WAITS)) {
                    lines.add(pool.submit(() -> line(mutant)));
                }
            }
            StringBuilder text = new StringBuilder(TITLE);
            for (Future<String> line : lines) {
                text.append(line.get()).append('\n');
            }
            return text.toString();
        } finally {
            pool.shutdownNow();
        }
    }

    private static String line(Mutant mutant) throws InterruptedException {
        TckConfig config =
                TckConfig.of(Profile.QUICK).withCheckLimit(Patience.of(HANGS)).withExcluded(WHOLE_JVM);
        return mutant.number() + " " + mutant.name() + ":"
                + ReferenceSubject.run(mutant.url(), config).with(Verdict.FAIL).stream()
                        .filter(check -> check.level() != Level.STATISTICAL)
                        .map(CheckResult::rules)
                        .map(rules -> rules.get(0))
                        .filter(rule -> !IN_SOME_RUNS
                                .getOrDefault(mutant.name(), Set.of())
                                .contains(rule))
                        .distinct()
                        .sorted(Comparator.comparingInt(rule -> Integer.parseInt(rule.substring(3))))
                        .map(rule -> " " + rule)
                        .collect(Collectors.joining());
    }
}
