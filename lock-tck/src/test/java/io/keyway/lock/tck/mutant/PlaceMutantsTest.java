// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.tck.CheckResult;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a run does to a store that applications use when the provider is wrong about its place for tests. */
class PlaceMutantsTest {
    private static final TckConfig FLOORS = TckConfig.of(Profile.SMOKE).withOnly(List.of("LK-608", "LK-609", "LK-610"));

    @TempDir
    private Path directory;

    private static CheckResult of(TckResult result, String rule) {
        return result.checks().stream()
                .filter(check -> check.id().startsWith(rule + "/"))
                .findFirst()
                .orElseThrow();
    }

    /** Nobody but the provider's author knows that the place is in use; so nothing is given or removed there. */
    @ParameterizedTest
    @ValueSource(strings = {FloorMutants.NO_PLACE, FloorMutants.ONE_PLACE})
    void aPlaceThatIsNotApartIsLeftAlone(String mutant) throws Exception {
        String url = "lock:mutant://" + mutant + "/used";
        try (LockClient application = Locks.open(url)) {
            long before = application.lock("nightly").acquire().token();
            TckResult result = TckRunner.run(TckSubject.of(url), FLOORS);
            assertThat(of(result, "LK-610").verdict()).isEqualTo(Verdict.FAIL);
            assertThat(of(result, "LK-608").verdict()).isEqualTo(Verdict.NOT_RUN);
            assertThat(of(result, "LK-609").message()).contains("LK-610");
            assertThat(application.lock("weekly").acquire().token() - before).isBetween(1L, 1000L);
            // The world that the application has is the one that a new client finds.
            try (LockClient other = Locks.open(url)) {
                assertThat(other.lock("nightly").tryAcquire()).isEmpty();
            }
        }
    }

    private TckResult run(String defect) throws Exception {
        return TckRunner.run(TckSubject.of("lock:row-mutant:" + defect + "://" + directory.resolve("rows")), FLOORS);
    }

    private List<Path> places() throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(path -> path.toString().contains("rows-tck-")).toList();
        }
    }

    @Test
    void aPlaceThatIsApartIsUsedAndRemoved() throws Exception {
        TckResult result = run("none");
        assertThat(of(result, "LK-608").verdict()).isEqualTo(Verdict.PASS);
        assertThat(of(result, "LK-610").verdict()).isEqualTo(Verdict.PASS);
        assertThat(places()).isEmpty();
    }

    /** As for a user of a database who may write to the tables that an administrator has made, and make none. */
    @Test
    void aPlaceThatTheUserMayNotMakeIsNoFailure() throws Exception {
        TckResult result = run("forbidden-place");
        assertThat(result.checks()).extracting(CheckResult::verdict).containsOnly(Verdict.NOT_RUN);
        assertThat(of(result, "LK-610").message()).contains("this user may not make files there");
    }

    @Test
    void whatCannotBeRemovedIsNamedAndHasNoVerdict() throws Exception {
        CheckResult check = of(run("sticky-place"), "LK-608");
        assertThat(check.verdict()).isEqualTo(Verdict.INCONCLUSIVE);
        assertThat(places()).isNotEmpty();
        assertThat(check.message())
                .contains(places().get(0).toString(), "this user may not remove it", "remove it yourself");
    }
}
