// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What one lease costs does not grow with the number of those that the client holds. */
class ManyLeasesTest extends MachineScript {

    private static final int LEASES = 100_000;

    /** A look at all that are held, at each of them, takes hours. */
    @Test
    @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aHundredThousandAreTakenRenewedAndReleased() {
        grantAll(LEASES);
        machine.tick(at(4000));
        List<Grant> renewed = new ArrayList<>();
        EffectLog wanted = EffectLog.of(machine.effects());
        List<List<Grant>> batches = wanted.renewals;
        assertThat(batches).hasSameSizeAs(wanted.lines);
        for (List<Grant> batch : batches) {
            renewed.addAll(batch);
            machine.renewed(batch, at(4000), Collections.nCopies(batch.size(), Answer.DONE), at(4001));
        }
        assertThat(renewed).hasSize(LEASES);
        assertThat(EffectLog.of(machine.effects()).lines)
                .hasSize(batches.size())
                .allMatch(line -> line.startsWith("extended "));
        machine.tick(at(5000));
        expect();
        assertThat(machine.nextDue()).hasValue(at(8000));
        for (int id = 1; id <= LEASES; id++) {
            machine.release(id, at(5002));
            machine.released(id, Answer.DONE, at(5003));
        }
        assertThat(machine.idle()).isTrue();
        assertThat(machine.effects()).hasSize(3 * LEASES);
    }

    @Test
    void aGrantThatIsDueSoonerThanOthersIsRenewedSooner() {
        grantAll(1);
        machine.submit(request(2, LockMode.SHARED, true), at(0));
        machine.attempted(2, at(-1000), granted(2, 2), at(1));
        machine.effects();
        assertThat(machine.nextDue()).hasValue(at(3000));
        machine.tick(at(3000));
        expect("renew [1, 2]");
    }
}
