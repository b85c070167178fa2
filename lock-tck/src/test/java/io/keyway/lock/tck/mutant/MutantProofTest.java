// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The kit proves itself: no mutant is compatible. {@link ReferenceProofTest} is the other half. */
class MutantProofTest {

    /** A check of a mutant that hangs has failed; there is no use in waiting longer. */
    private static final Duration HANGS = Duration.ofSeconds(6);

    static List<Mutant> mutants() {
        return Mutants.ALL;
    }

    @ParameterizedTest
    @Tag("soak")
    @Execution(ExecutionMode.CONCURRENT) // each has a world of its own
    @MethodSource("mutants")
    void eachIsFoundByTheRuleThatItBreaks(Mutant mutant) throws Exception {
        TckResult quick = ReferenceSubject.run(mutant.url(), only(mutant, Profile.QUICK));
        boolean seen = quick.outcome() == TckResult.Outcome.NOT_COMPATIBLE;
        // A few show in the longest runs alone.
        assertFound(mutant, seen ? quick : ReferenceSubject.run(mutant.url(), only(mutant, Profile.FULL)));
    }

    /** What an author is most likely to get wrong at first. */
    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @ValueSource(
            strings = {
                "check-then-act",
                "reader-beside-writer",
                "one-permit-more",
                "never-expires",
                "expires-early",
                "term-rounded",
                "term-of-the-queue",
                "repeat-extends-nothing",
                "waiters-of-the-dead",
                "waiter-stays",
                "barging",
                "no-wake-up",
                "token-constant",
                "token-restarts",
                "restart-opens-at-once",
                "names-folded",
                "kinds-mixed",
                "parent-waits-for-children",
                "withdrawal-forgotten",
                "all-steps-not-executed",
                "release-made-up",
                "list-forgets"
            })
    void theMostLikelyAreFoundInSmoke(String name) throws Exception {
        Mutant mutant = named(name);
        assertFound(mutant, ReferenceSubject.run(mutant.url("smoke"), only(mutant, Profile.SMOKE)));
    }

    private static Mutant named(String name) {
        return Mutants.ALL.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** What only a broken link brings to light, where the kit itself has to stand between a client and its backend. */
    @ParameterizedTest
    @Tag("soak")
    @Execution(ExecutionMode.CONCURRENT)
    @ValueSource(strings = {"never-expires", "permits-of-the-dead", "waiters-of-the-dead"})
    void someAreFoundThoughTheSubjectBreaksNoLink(String name) throws Exception {
        Mutant mutant = named(name);
        assertFound(mutant, ReferenceSubject.runWithoutLinks(mutant.url("bare"), only(mutant, Profile.FULL)));
    }

    private static TckConfig only(Mutant mutant, Profile profile) {
        return TckConfig.of(profile).withOnly(List.of(mutant.rule())).withCheckLimit(Patience.of(HANGS));
    }

    private static void assertFound(Mutant mutant, TckResult result) {
        assertThat(result.with(Verdict.FAIL))
                .as("the failures of %s", mutant)
                .anySatisfy(check -> assertThat(check.rules()).contains(mutant.rule()))
                .noneSatisfy(check -> assertThat(check.message()).contains("NullPointerException"));
        assertThat(result.outcome()).isEqualTo(TckResult.Outcome.NOT_COMPATIBLE);
    }
}
