// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.LockClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Elections over a good provider that have one defect each. */
@Execution(ExecutionMode.CONCURRENT) // each has a world of its own
class ElectionMutantsTest {
    private final OverReference elections = new OverReference("election", 1801, 1810);

    @Test
    void theGoodOnePasses() throws Exception {
        elections.passes(subject -> subject.withElections(LockClient::election), 13);
    }

    @ParameterizedTest
    @EnumSource
    void eachDefectIsFound(CarelessElection.Defect defect) throws Exception {
        elections.isFound(
                defect,
                defect.rule,
                subject -> subject.withElections((client, name) -> CarelessElection.of(defect, client, name)));
    }
}
