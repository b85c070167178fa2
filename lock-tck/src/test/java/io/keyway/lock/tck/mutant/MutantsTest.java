// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.reference.ReferenceWorld;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MutantsTest {

    static List<Mutant> mutants() {
        return Mutants.ALL;
    }

    @Test
    void eachHasANameOfItsOwn() {
        assertThat(Mutants.ALL).extracting(Mutant::name).doesNotHaveDuplicates();
        assertThat(Mutants.ALL).extracting(Mutant::number).doesNotHaveDuplicates();
    }

    /** Who could not even do this would be found by every check, and prove nothing. */
    @ParameterizedTest
    @MethodSource("mutants")
    void eachLocksAndReleasesWhenNobodyIsInItsWay(Mutant mutant) throws Exception {
        try (LockClient client = Locks.open(mutant.url())) {
            Lease lease = client.lock("a").acquire();
            assertThat(lease.isHeld()).isTrue();
            client.unwrap(ReferenceWorld.class).advance(Duration.ofSeconds(1));
            lease.close();
            assertThat(lease.state()).isEqualTo(Lease.State.RELEASED);
        }
    }
}
