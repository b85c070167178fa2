// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Watchers over a good provider that have one defect each. */
class WatchMutantsTest {
    private final OverReference watches = new OverReference("watch", 1107, 1109);

    @Test
    void theGoodOnePasses() throws Exception {
        watches.passes(subject -> subject.withWatches(LockClient::watch), 2);
    }

    @ParameterizedTest
    @EnumSource
    void eachDefectIsFound(CarelessWatch.Defect defect) throws Exception {
        watches.isFound(
                defect,
                defect.rule,
                subject -> subject.withWatches(
                        (client, key, every, told) -> CarelessWatch.begin(defect, client, key, every, told)));
    }
}
