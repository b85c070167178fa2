// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckResult;
import io.keyway.lock.tck.Verdict;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Transactions over the lease service that have one defect each: the compatibility kit finds each by its rule. */
@Execution(ExecutionMode.CONCURRENT) // each has a world of its own
class TransactionMutantsTest {
    @ParameterizedTest
    @EnumSource
    void eachDefectIsFound(CarelessTransaction.Defect defect) throws Exception {
        String world = defect.name().toLowerCase(Locale.ROOT).replace('_', '-');
        TckResult result = TransactionTckTest.run(
                "lock:native:mem://mutant-" + world + "?clock=manual&maxTtl=15s",
                Profile.QUICK,
                List.of(defect.rule),
                subject ->
                        subject.withTransactions((client, options) -> CarelessTransaction.of(defect, client, options)));
        assertThat(result.with(Verdict.FAIL))
                .anySatisfy(check -> assertThat(check.rules()).contains(defect.rule))
                .noneSatisfy(check -> assertThat(check.message()).contains("NullPointerException"));
    }
}
