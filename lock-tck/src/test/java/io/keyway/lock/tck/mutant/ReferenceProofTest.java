// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The kit proves itself: the reference is compatible, whatever the seed. */
class ReferenceProofTest {

    @Test
    void theReferenceIsCompatible() throws Exception {
        assertCompatible(TckConfig.of(Profile.FULL));
    }

    @Test
    @Tag("soak")
    void theReferenceIsCompatibleWhereTheKitItselfBreaksLinks() throws Exception {
        TckResult result =
                ReferenceSubject.runWithoutLinks("lock:reference://bare?clock=manual", TckConfig.of(Profile.QUICK));
        assertCompatible(result);
        assertThat(result.checks())
                .filteredOn(check -> check.id().startsWith("LK-513/a-silent-reader"))
                .as("a check that breaks a link")
                .singleElement()
                .satisfies(check -> assertThat(check.verdict()).isEqualTo(Verdict.PASS));
    }

    /** Then the kit cannot ask the store who waits. */
    @Test
    @Tag("soak")
    void aStoreWithoutListingCanShowThatItWakes() throws Exception {
        TckConfig wakeUps = TckConfig.of(Profile.QUICK).withOnly(List.of("LK-411"));
        TckResult sane = ReferenceSubject.run("lock:reference://proof?clock=manual&without=list", wakeUps);
        assertThat(sane.with(Verdict.PASS)).hasSizeGreaterThan(10);
        assertCompatible(sane);
        TckResult mute = ReferenceSubject.run("lock:mutant://no-wake-up?clock=manual&without=list", wakeUps);
        assertThat(mute.outcome()).isEqualTo(TckResult.Outcome.NOT_COMPATIBLE);
    }

    @Test
    @Tag("soak")
    void theReferenceIsCompatibleTwoHundredTimes() throws Exception {
        for (int seed = 1; seed <= 200; seed++) {
            assertCompatible(TckConfig.of(Profile.QUICK).withSeed(1000 + seed));
        }
    }

    private static void assertCompatible(TckConfig config) throws InterruptedException {
        assertCompatible(ReferenceSubject.run("lock:reference://proof?clock=manual", config));
    }

    private static void assertCompatible(TckResult result) {
        assertThat(result.checks())
                .as("seed %d", result.seed())
                .noneMatch(check -> check.verdict() == Verdict.FAIL || check.verdict() == Verdict.INCONCLUSIVE);
        assertThat(result.outcome()).isEqualTo(TckResult.Outcome.COMPATIBLE);
    }
}
