// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.mutant.RowMutant.Defect;
import io.keyway.lock.tck.process.WallClock;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Defects of a provider by rows are found by the check that is about them, on the machine's clock. */
class RowMutantsTest {

    @TempDir
    private Path directory;

    /** The check that is about a defect, and how much ttls are stretched. */
    private enum Found {
        WALL_CLOCK("LK-514/a-wall-clock-that-is-wrong-ends-no-grant", 1),
        TOKENS_OF_THE_WALL_CLOCK("LK-602/a-wall-clock-that-is-wrong-lowers-no-token", 1),
        ROW_OF_THE_LAST_WRITER("LK-502/a-waiter-that-is-gone-takes-no-grant-along", 1),
        MEMORY_OF_ONE_TTL("LK-1502/the-memory-of-a-withdrawal-outlasts-the-ttl-of-its-request", 1),
        /** As on a machine that is so slow that ttls are stretched beyond it. */
        LEAST_TERM("LK-309/a-grant-does-not-outlast-its-term", 4);

        final String check;
        final double factor;

        Found(String check, double factor) {
            this.check = check;
            this.factor = factor;
        }
    }

    private TckResult run(Defect defect, double factor, List<String> only) throws Exception {
        String word = defect.name().toLowerCase(Locale.ROOT).replace('_', '-');
        return TckRunner.run(
                TckSubject.of("lock:row-mutant:" + word + "://" + directory.resolve("rows")),
                TckConfig.of(Profile.QUICK).withOnly(only).withTimeFactor(factor));
    }

    @ParameterizedTest
    @EnumSource(Found.class)
    void eachIsFound(Found found) throws Exception {
        assumeTrue(
                !found.name().contains("WALL_CLOCK") || WallClock.canBeMoved(),
                "needs libfaketime; on Debian: apt-get install faketime");
        TckResult result = run(Defect.valueOf(found.name()), found.factor, List.of(found.check));
        assertThat(result.checks()).extracting(CheckResult::verdict).containsExactly(Verdict.FAIL);
        assertThat(result.checks().get(0).message())
                .doesNotContain("unexpected")
                .doesNotContain("hangs");
    }

    /** As of a provider with such a shortest ttl, or on a very slow machine. */
    @Test
    @Tag("soak") // the check waits for three ttls
    void aLongTtlIsNoDefect() throws Exception {
        TckResult result = run(Defect.NONE, 18, List.of(Found.MEMORY_OF_ONE_TTL.check));
        assertThat(result.checks()).extracting(CheckResult::verdict).containsExactly(Verdict.PASS);
    }

    @Test
    void theSameStoreWithoutADefectPasses() throws Exception {
        TckResult result = run(
                Defect.NONE,
                1,
                Stream.of(Found.values()).map(found -> found.check).toList());
        assertThat(result.checks())
                .hasSize(Found.values().length)
                .allMatch(check -> check.verdict() == Verdict.PASS
                        || (check.verdict() == Verdict.NOT_RUN && !WallClock.canBeMoved()));
    }
}
