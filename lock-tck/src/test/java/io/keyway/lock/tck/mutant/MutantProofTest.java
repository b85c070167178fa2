// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The kit proves itself: the reference is compatible, and no mutant is. */
@Timeout(120)
class MutantProofTest {

    private static final Path RECORDED = Path.of("src/test/resources/io/keyway/lock/tck/mutant/failures.txt");

    /** A check of a mutant that hangs has failed; there is no use in waiting longer. */
    private static final Duration HANGS = Duration.ofSeconds(3);

    static List<Mutant> mutants() {
        return Mutants.ALL;
    }

    @Test
    void theReferenceIsCompatible() throws Exception {
        for (int seed = 1; seed <= 3; seed++) {
            assertCompatible(
                    TckConfig.of(seed == 1 ? Profile.FULL : Profile.QUICK).withSeed(seed));
        }
    }

    @Test
    @Tag("soak")
    @Timeout(1800)
    void theReferenceIsCompatibleTwoHundredTimes() throws Exception {
        for (int seed = 1; seed <= 200; seed++) {
            assertCompatible(TckConfig.of(Profile.QUICK).withSeed(1000 + seed));
        }
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void eachIsFoundByTheRuleThatItBreaks(Mutant mutant) throws Exception {
        TckResult result = ReferenceSubject.run(
                mutant.url(),
                TckConfig.of(Profile.FULL).withOnly(List.of(mutant.rule())).withCheckLimit(HANGS));
        assertThat(result.with(Verdict.FAIL))
                .as("the failures of %s", mutant)
                .anySatisfy(check -> assertThat(check.rules()).contains(mutant.rule()))
                .noneSatisfy(check -> assertThat(check.message()).contains("NullPointerException"));
        assertThat(result.outcome()).isEqualTo(TckResult.Outcome.NOT_COMPATIBLE);
    }

    /** What else fails says how far a defect reaches; rewritten with {@code -Dmutants.record=true}. */
    @Test
    @Tag("soak")
    @Timeout(1800)
    void theirOtherFailuresAreTheRecordedOnes() throws Exception {
        Map<String, String> found = new LinkedHashMap<>();
        for (Mutant mutant : Mutants.ALL) {
            TckResult result = ReferenceSubject.run(
                    mutant.url(), TckConfig.of(Profile.QUICK).withCheckLimit(HANGS));
            TreeSet<String> failed = new TreeSet<>();
            result.with(Verdict.FAIL).stream().map(CheckResult::id).forEach(failed::add);
            found.put(mutant.name(), mutant.name() + ": " + String.join(" ", failed));
        }
        if (Boolean.getBoolean("mutants.record")) {
            rewrite(found);
        }
        assumeFalse(Boolean.getBoolean("mutants.record"), "recorded");
        assertThat(found.values()).containsExactlyElementsOf(Files.readAllLines(RECORDED));
    }

    private static void rewrite(Map<String, String> found) throws IOException {
        Files.createDirectories(RECORDED.getParent());
        Files.write(RECORDED, found.values());
    }

    private static void assertCompatible(TckConfig config) throws InterruptedException {
        TckResult result = ReferenceSubject.run("lock:reference://proof?clock=manual", config);
        assertThat(result.checks())
                .as("seed %d", config.seed())
                .noneMatch(check -> check.verdict() == Verdict.FAIL || check.verdict() == Verdict.INCONCLUSIVE);
        assertThat(result.outcome()).isEqualTo(TckResult.Outcome.COMPATIBLE);
    }
}
