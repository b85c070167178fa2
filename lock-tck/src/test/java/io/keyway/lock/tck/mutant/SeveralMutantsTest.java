// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sets of locks over a good provider that have one defect each. */
@Execution(ExecutionMode.CONCURRENT) // each has a world of its own
class SeveralMutantsTest {
    private final OverReference sets = new OverReference("several", 1701, 1709);

    @Test
    void theGoodOnePasses() throws Exception {
        sets.passes(subject -> subject.withSeveral(LockClient::locks), 12);
    }

    @ParameterizedTest
    @EnumSource
    void eachDefectIsFound(CarelessSet.Defect defect) throws Exception {
        sets.isFound(
                defect,
                defect.rule,
                subject -> subject.withSeveral((client, names) -> CarelessSet.of(defect, client, names)));
    }
}
