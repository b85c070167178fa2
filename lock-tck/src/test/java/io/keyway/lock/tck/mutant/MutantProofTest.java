// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The kit proves itself: the reference is compatible, and no mutant is. */
@Timeout(120)
class MutantProofTest {

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

    private static void assertCompatible(TckConfig config) throws InterruptedException {
        TckResult result = ReferenceSubject.run("lock:reference://proof?clock=manual", config);
        assertThat(result.checks())
                .as("seed %d", config.seed())
                .noneMatch(check -> check.verdict() == Verdict.FAIL || check.verdict() == Verdict.INCONCLUSIVE);
        assertThat(result.outcome()).isEqualTo(TckResult.Outcome.COMPATIBLE);
    }
}
