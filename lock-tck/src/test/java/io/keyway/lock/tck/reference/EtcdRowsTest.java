// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.reference.etcd.EtcdProvider;
import io.keyway.lock.reference.etcd.EtcdWorld;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckConfig;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.TckRunner;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Rows suffice for a store that knows revisions, watches and leases, and no clock. */
class EtcdRowsTest {

    @Test
    @Tag("soak")
    void rowsInEtcdAreCompatible() throws Exception {
        EtcdWorld world = EtcdProvider.world("tck");
        TckSubject subject = TckSubject.of("lock:rows-etcd://tck")
                .withAdvance(world::advance)
                .withFootprint(world::kept);
        TckResult result = TckRunner.run(subject, TckConfig.of(Profile.QUICK));
        assertThat(result.checks())
                .noneMatch(check -> check.verdict() == Verdict.FAIL || check.verdict() == Verdict.INCONCLUSIVE);
        assertThat(result.outcome()).isEqualTo(TckResult.Outcome.COMPATIBLE);
        assertThat(result.with(Verdict.PASS)).hasSizeGreaterThan(150);
    }

    @Test
    void theProviderIsSmall() throws Exception {
        Path rows = Path.of("../lock-api/src/test/java/io/keyway/lock/reference/etcd/EtcdRows.java");
        assertThat(Files.readAllLines(rows).stream().filter(line -> !line.isBlank()))
                .hasSizeLessThan(240);
    }
}
